/// Why a ``MockAPNsServer`` could not be started, or a ledger not be read.
public struct MockAPNsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, for people.
    public let what: String

    init(_ what: String) { self.what = what }

    public var description: String { what }
}
