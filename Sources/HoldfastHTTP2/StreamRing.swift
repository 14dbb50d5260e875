/// The open streams of a connection, each in the slot that its number names: no dictionary, no allocation, one probe.
///
/// Slots are found by `streamID >> 1`, as all streams of one client are odd. A slot may hold a stream that is over but
/// whose frames may still arrive (``Stream/isLingering``); a new stream may take its place. One that stays open for long
/// may be in the way of a much newer one, whose number names the same slot: it then moves behind the ring.
struct StreamRing<Stream: RingStream> {
    /// The ring's, and behind them those of displaced streams.
    private(set) var slots: [Stream]
    private let maxCapacity: Int
    /// The ring's slots, less one.
    private var mask: Int
    /// The slots of displaced streams, by their numbers. Mostly empty.
    private var displaced: [UInt32: Int] = [:]
    /// Streams that are open, lingering ones not counted.
    private(set) var count = 0
    /// Up to this number a closed stream may be one that we reset and have forgotten since.
    private(set) var forgottenResets: UInt32 = 0

    /// - Parameter maxCapacity: slots it may grow to; rounded up to a power of two.
    init(capacity: Int, maxCapacity: Int) {
        self.maxCapacity = Self.powerOfTwo(atLeast: Swift.max(2, maxCapacity))
        slots = Array(
            repeating: .free, count: Swift.min(Self.powerOfTwo(atLeast: Swift.max(2, capacity)), self.maxCapacity))
        mask = slots.count - 1
    }

    private static func powerOfTwo(atLeast count: Int) -> Int {
        var power = 1
        while power < count, power < 1 << 30 { power <<= 1 }
        return power
    }

    @inline(__always)
    func slot(of id: UInt32) -> Int { Int(id >> 1) & mask }

    /// The slot of a stream that is open or lingering; nil when it is neither.
    @inline(__always)
    func find(_ id: UInt32) -> Int? {
        let slot = slot(of: id)
        if slots[slot].id == id { return slot }
        return displaced.isEmpty ? nil : displaced[id]
    }

    @inline(__always)
    subscript(slot: Int) -> Stream {
        _read { yield slots[slot] }
        _modify { yield &slots[slot] }
    }

    /// Whether `id` could be inserted without growing.
    @inline(__always)
    func isVacant(_ id: UInt32) -> Bool {
        let slot = slot(of: id)
        return slots[slot].id == 0 || slots[slot].isLingering
    }

    /// Puts in a stream whose slot is vacant.
    @inline(__always)
    mutating func insert(_ stream: Stream) {
        let slot = slot(of: stream.id)
        if slots[slot].isLingering { forgottenResets = Swift.max(forgottenResets, slots[slot].id) }
        slots[slot] = stream
        count &+= 1
    }

    /// Makes room so that at most half of the slots are taken and `id` has one.
    ///
    /// - Returns: false when it would have to grow past its bound.
    mutating func makeRoom(for id: UInt32) -> Bool {
        while !isVacant(id) || count * 2 > mask {
            guard grow() else { return isVacant(id) }
        }
        return true
    }

    /// Moves the open stream that is in the way of `id`.
    mutating func displace(for id: UInt32) {
        let slot = slot(of: id)
        guard !isVacant(id) else { return }
        let free = displaced.count < slots.count - mask - 1 ? slots[(mask + 1)...].firstIndex { $0.id == 0 } : nil
        if free == nil { slots.append(slots[slot]) }
        let place = free ?? slots.count - 1
        slots[place] = slots[slot]
        displaced[slots[slot].id] = place
        slots[slot] = .free
    }

    private mutating func grow() -> Bool {
        guard displaced.isEmpty, (mask + 1) * 2 <= maxCapacity else { return false }
        let old = slots[...mask]
        slots = Array(repeating: .free, count: (mask + 1) * 2)
        mask = slots.count - 1
        for stream in old where stream.id != 0 { slots[slot(of: stream.id)] = stream }
        return true
    }

    /// Ends an open stream.
    @inline(__always)
    mutating func remove(at slot: Int) {
        if slot > mask { forgetDisplaced(slot) } else { slots[slot] = .free }
        count &-= 1
    }

    /// Ends an open stream whose frames may still arrive.
    mutating func linger(at slot: Int) {
        if slot > mask {
            forgottenResets = Swift.max(forgottenResets, slots[slot].id)
            forgetDisplaced(slot)
        } else {
            slots[slot] = .lingering(slots[slot].id)
        }
        count &-= 1
    }

    private mutating func forgetDisplaced(_ slot: Int) {
        displaced[slots[slot].id] = nil
        slots[slot] = .free
        if displaced.isEmpty { slots.removeSubrange((mask + 1)...) }
    }

    /// A stream that we reset without ever having given it a slot.
    mutating func forgetReset(_ id: UInt32) { forgottenResets = Swift.max(forgottenResets, id) }

    /// The slots of the open streams, in the order of their numbers. For rare events.
    func openSlots() -> [Int] {
        slots.indices.filter { slots[$0].id != 0 && !slots[$0].isLingering }.sorted { slots[$0].id < slots[$1].id }
    }
}

/// The facts about a stream that a ``StreamRing`` needs.
protocol RingStream: Sendable {
    /// 0 in a free slot.
    var id: UInt32 { get }
    /// Whether it is closed, but the peer's further frames on it have to be ignored.
    var isLingering: Bool { get }
    static var free: Self { get }
    static func lingering(_ id: UInt32) -> Self
}
