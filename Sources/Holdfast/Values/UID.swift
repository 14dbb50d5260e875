/// The number of a notification in its journal.
///
/// Strictly increasing within a journal in the order of acceptance, and never given out twice, not even across
/// restarts. 0 is never given out: it stands for "before the first".
public struct UID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// Creates a UID from its number.
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Creates a UID from its number.
    @inlinable public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Before the first UID of every journal.
    public static let none = UID(0)
    /// Above every UID of every journal.
    public static let max = UID(.max)

    /// Orders by acceptance.
    @inlinable public static func < (lhs: UID, rhs: UID) -> Bool { lhs.rawValue < rhs.rawValue }

    /// The number in decimal digits.
    public var description: String { String(rawValue) }
}
