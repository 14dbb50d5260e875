internal import Holdfast

/// Values by UID, to be read in the order of the UIDs.
///
/// UIDs are mostly appended in order and removed in any: so a removal leaves its place in the order behind, which is
/// tidied when half of the places are empty. Each operation takes constant time on the whole, or the logarithm of it.
struct UIDTable<Value: Sendable>: Sendable {
    /// Ascending; holds some that are gone.
    private var order: [UID] = []
    private var values: [UID: Value] = [:]

    var count: Int { values.count }
    var isEmpty: Bool { values.isEmpty }

    subscript(_ uid: UID) -> Value? { values[uid] }

    mutating func insert(_ value: Value, for uid: UID) {
        values[uid] = value
        if order.last.map({ $0 < uid }) ?? true { return order.append(uid) }
        let place = place(of: uid)
        if order[place] != uid { order.insert(uid, at: place) }
    }

    mutating func remove(_ uid: UID) -> Value? {
        guard let value = values.removeValue(forKey: uid) else { return nil }
        if order.count > 2 * values.count + 16 { order.removeAll { values[$0] == nil } }
        return value
    }

    /// Those above `after` and not above `through`, ascending, at most `limit`.
    func range(after: UID, through: UID = .max, limit: Int = .max) -> [(uid: UID, value: Value)] {
        var found: [(uid: UID, value: Value)] = []
        guard after < .max else { return found }
        var place = place(of: UID(after.rawValue + 1))
        while place < order.endIndex, order[place] <= through, found.count < limit {
            if let value = values[order[place]] { found.append((order[place], value)) }
            place += 1
        }
        return found
    }

    /// All of them, ascending, without a copy.
    func visitAll(_ body: (_ uid: UID, _ value: Value) -> Void) {
        for uid in order { if let value = values[uid] { body(uid, value) } }
    }

    var all: [(uid: UID, value: Value)] { range(after: .none) }

    /// Of the first in the order that is not below `uid`.
    private func place(of uid: UID) -> Int { order.firstPlace { $0 >= uid } }
}

extension Array {
    /// The index of the first element for which `condition` holds, given that it holds for all behind it too.
    func firstPlace(where condition: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
