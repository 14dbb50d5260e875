/// The bytes that one side may still send. Negative when SETTINGS took back a part already used (RFC 9113 §6.9.2).
struct FlowWindow: Equatable {
    /// The initial size of every window.
    static let initial = 65535
    static let greatest = Int(Int32.max)

    private(set) var size: Int32

    init(_ size: Int = FlowWindow.initial) { self.size = Int32(clamping: size) }

    /// Bytes that may be sent now.
    @inline(__always) var available: Int { Swift.max(0, Int(size)) }

    /// Takes sent bytes, at most ``available``.
    @inline(__always)
    mutating func use(_ count: Int) { size = Int32(clamping: Int(size) &- count) }

    /// Widens or (with SETTINGS) narrows it.
    ///
    /// - Returns: false when it would leave its range; it is unchanged then.
    mutating func change(by count: Int) -> Bool {
        guard let changed = Int32(exactly: Int(size) + count) else { return false }
        size = changed
        return true
    }
}

/// The bytes that the peer may still send to us. Opened again once half of it is used, in one large update.
struct ReceiveWindow: Equatable {
    /// The bytes that the peer may still send. Negative when SETTINGS took back a part already used.
    private(set) var left: Int32
    /// The size to which it is opened.
    private(set) var full: Int32

    init(full: Int) {
        self.full = Int32(clamping: full)
        left = self.full
    }

    /// Takes received bytes.
    ///
    /// - Returns: false when the peer exceeded the window.
    @inline(__always)
    mutating func receive(_ count: Int) -> Bool {
        guard count <= Int(left) else { return false }
        left &-= Int32(truncatingIfNeeded: count)
        return true
    }

    /// The increment to announce now; 0 for none. It is taken as announced.
    @inline(__always)
    mutating func replenish() -> Int {
        guard Int(left) * 2 < Int(full) else { return 0 }
        let increment = Int(full) - Int(left)
        guard increment <= FlowWindow.greatest else { return 0 }
        left = full
        return increment
    }

    /// Changes the size to which it is opened, as SETTINGS say.
    mutating func resize(to size: Int) {
        let resized = Int32(clamping: size)
        left = Int32(clamping: Int(left) + Int(resized) - Int(full))
        full = resized
    }
}
