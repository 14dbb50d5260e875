internal import Holdfast

/// An accepted notification, and the line that it comes from: 32 bytes in a file.
struct ReportRecord: Equatable {
    static let size = 32

    var line: Int
    var uid: UID
    var id: NotificationID

    init(line: Int, uid: UID, id: NotificationID) { (self.line, self.uid, self.id) = (line, uid, id) }

    /// - Parameter bytes: ``size`` of them.
    init(_ bytes: ArraySlice<UInt8>) {
        func word(_ index: Int) -> UInt64 {
            UInt64Bytes.value(bytes[(bytes.startIndex + 8 * index)..<(bytes.startIndex + 8 * index + 8)])
        }
        line = Int(clamping: word(0))
        uid = UID(word(1))
        id = NotificationID(high: word(2), low: word(3))
    }

    var bytes: [UInt8] {
        [UInt64(line), uid.rawValue, id.high, id.low].flatMap(UInt64Bytes.of)
    }
}

/// Finds the records of a UID, and knows which of them have their outcome, at a bit for each.
///
/// UIDs of one batch follow each other, and those of later batches are greater: so a run of them takes one place, however long
/// it is. Only the repeats of notifications that were taken before have places of their own.
struct ReportIndex {
    private struct Run {
        var uid: UInt64
        var record: Int
        var count: Int
    }

    private var runs: [Run] = []
    private var repeats: [UInt64: [Int]] = [:]
    /// The UIDs of these.
    private var repeated: [Int: UInt64] = [:]
    private var ended: [UInt64] = []
    private(set) var count = 0
    /// Records without an outcome.
    private(set) var open = 0

    /// Adds the next record.
    mutating func append(_ uid: UID) {
        let uid = uid.rawValue
        if let last = runs.last, uid < last.uid + UInt64(last.count) {
            repeats[uid, default: []].append(count)
            repeated[count] = uid
        } else if let last = runs.last, uid == last.uid + UInt64(last.count), last.record + last.count == count {
            runs[runs.count - 1].count += 1
        } else {
            runs.append(Run(uid: uid, record: count, count: 1))
        }
        if count & 63 == 0 { ended.append(0) }
        count += 1
        open += 1
    }

    func uid(_ record: Int) -> UID {
        if let uid = repeated[record] { return UID(uid) }
        let run = runs[runs(before: { $0.record > record }) - 1]
        return UID(run.uid + UInt64(record - run.record))
    }

    /// How many runs come before the first of which this is true.
    private func runs(before isBehind: (Run) -> Bool) -> Int {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(runs[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    func records(of uid: UID) -> [Int] {
        let uid = uid.rawValue
        let low = runs(before: { $0.uid > uid })
        var found = repeats[uid] ?? []
        if low > 0, uid - runs[low - 1].uid < UInt64(runs[low - 1].count) {
            found.insert(runs[low - 1].record + Int(uid - runs[low - 1].uid), at: 0)
        }
        return found
    }

    func hasEnded(_ record: Int) -> Bool { ended[record >> 6] & (1 << UInt64(record & 63)) != 0 }

    /// - Returns: false when it had ended before.
    mutating func end(_ record: Int) -> Bool {
        guard !hasEnded(record) else { return false }
        ended[record >> 6] |= 1 << UInt64(record & 63)
        open -= 1
        return true
    }

    /// Records without an outcome, from a place on.
    func open(from start: Int, limit: Int) -> [Int] {
        var found: [Int] = []
        var record = start
        while record < count, found.count < limit {
            // 64 that have ended are passed in one step.
            if record & 63 == 0, ended[record >> 6] == .max {
                record += 64
                continue
            }
            if !hasEnded(record) { found.append(record) }
            record += 1
        }
        return found
    }
}
