/// The reason why a mock server could not be started, or a ledger could not be read.
public struct MockAPNsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault in words, for people.
    public let what: String

    init(_ what: String) { self.what = what }

    /// The text of ``what``.
    public var description: String { what }
}
