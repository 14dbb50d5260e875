/// The identifiers of one connection's frames on the wire: 32 bits, counting up from the first, never 0.
///
/// The engine counts positions from 1 in 64 bits. After 4,294,967,295 frames the identifiers repeat; an answer then
/// means the newest frame with that identifier.
struct WireIdentifiers: Hashable, Sendable {
    /// The number of identifiers: all of 32 bits but 0.
    private static let count = UInt64(UInt32.max)

    let first: UInt32

    /// - Parameter first: the identifier of the first frame; 0 is taken as 1.
    init(first: UInt32) { self.first = max(first, 1) }

    /// The identifier of the `number`-th frame, counted from 1.
    func identifier(of number: UInt64) -> UInt32 {
        UInt32((UInt64(first) - 1 + (number - 1) % Self.count) % Self.count + 1)
    }

    /// The number of the newest frame with this identifier.
    ///
    /// - Parameter last: the number of the last frame written; 0 for none.
    /// - Returns: nil when no frame has had this identifier.
    func number(of identifier: UInt32, last: UInt64) -> UInt64? {
        guard identifier > 0 else { return nil }
        let offset = (UInt64(identifier) + Self.count - UInt64(first)) % Self.count
        guard offset < last else { return nil }
        return (last - 1 - offset) / Self.count * Self.count + offset + 1
    }
}
