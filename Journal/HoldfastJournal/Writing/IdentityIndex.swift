import Holdfast

/// From identities to UIDs, in memory: 16 bytes a slot, at most three quarters of them taken.
///
/// Half of the identity tells slots apart; whether a slot's UID really has the identity is what the table says. So what
/// stands here too many does no harm, and what is missing is a repeat that goes unnoticed.
///
/// Additions count at once, so that a commit finds its own, and are taken back by ``rollBack()``; removals count from
/// ``commit()`` on. In parts, each of which grows by itself, so that growing never takes long. For the writer's thread.
final class IdentityIndex {
    private struct Slot {
        var key: UInt64 = 0
        /// 0 for an empty one: no entry has it.
        var uid: UInt64 = 0
    }

    /// Open addressing with linear probing; no tombstones, since removing closes the gap.
    private struct Part {
        var slots: [Slot] = Array(repeating: Slot(), count: 64)
        var count = 0

        private var mask: Int { slots.count - 1 }

        private func home(_ key: UInt64) -> Int { Int(truncatingIfNeeded: key) & mask }

        /// Calls `body` with each UID under the key until it returns true.
        func first<E>(_ key: UInt64, where body: (UInt64) throws(E) -> Bool) throws(E) -> UInt64? {
            var place = home(key)
            while slots[place].uid != 0 {
                if slots[place].key == key, try body(slots[place].uid) { return slots[place].uid }
                place = (place + 1) & mask
            }
            return nil
        }

        mutating func add(_ key: UInt64, _ uid: UInt64) {
            if (count + 1) * 4 > slots.count * 3 { grow() }
            put(Slot(key: key, uid: uid))
            count += 1
        }

        private mutating func put(_ slot: Slot) {
            var place = home(slot.key)
            while slots[place].uid != 0 { place = (place + 1) & mask }
            slots[place] = slot
        }

        private mutating func grow() {
            let old = slots
            slots = Array(repeating: Slot(), count: 2 * old.count)
            for slot in old where slot.uid != 0 { put(slot) }
        }

        mutating func remove(_ key: UInt64, _ uid: UInt64) {
            var gap = home(key)
            while slots[gap].uid != uid || slots[gap].key != key {
                if slots[gap].uid == 0 { return }
                gap = (gap + 1) & mask
            }
            count -= 1
            // What stands behind moves up, unless it would come to stand before its home.
            var next = gap
            while true {
                next = (next + 1) & mask
                if slots[next].uid == 0 { break }
                let distance = (next - home(slots[next].key)) & mask
                if distance >= (next - gap) & mask {
                    slots[gap] = slots[next]
                    gap = next
                }
            }
            slots[gap] = Slot()
        }
    }

    private static let partCount = 64
    private var parts: [Part] = Array(repeating: Part(), count: partCount)
    private var added: [Slot] = []
    private var dropped: [Slot] = []
    /// Whether everything that the table has is here.
    private(set) var isBuilt = false

    var count: Int { parts.reduce(0) { $0 + $1.count } }
    /// Slots, taken or not.
    var capacity: Int { parts.reduce(0) { $0 + $1.slots.count } }

    private static func part(_ identity: Identity) -> Int { Int(truncatingIfNeeded: identity.low >> 58) }

    /// The first UID under the identity for which `body` returns true.
    func first<E>(_ identity: Identity, where body: (UInt64) throws(E) -> Bool) throws(E) -> UInt64? {
        try parts[Self.part(identity)].first(identity.low, where: body)
    }

    /// Begins anew with what the table has, which `body` adds by ``fill(_:uid:)``.
    func build<E>(_ body: () throws(E) -> Void) throws(E) {
        parts = Array(repeating: Part(), count: Self.partCount)
        try body()
        isBuilt = true
    }

    func fill(_ identity: Identity, uid: UInt64) { parts[Self.part(identity)].add(identity.low, uid) }

    func add(_ identity: Identity, uid: UInt64) {
        fill(identity, uid: uid)
        added.append(Slot(key: identity.low, uid: uid))
    }

    func drop(_ identity: Identity, uid: UInt64) { dropped.append(Slot(key: identity.low, uid: uid)) }

    /// The commit is done.
    func commit() {
        for slot in dropped { remove(slot) }
        dropped.removeAll(keepingCapacity: true)
        added.removeAll(keepingCapacity: true)
    }

    /// The commit did not come about.
    func rollBack() {
        for slot in added { remove(slot) }
        dropped.removeAll(keepingCapacity: true)
        added.removeAll(keepingCapacity: true)
    }

    private func remove(_ slot: Slot) { parts[Int(truncatingIfNeeded: slot.key >> 58)].remove(slot.key, slot.uid) }
}
