/// Where the commits of an environment are kept before it makes them itself: such an environment is a working copy of what
/// lies elsewhere, and may be lost.
package protocol CommitGate: Sendable {
    /// Keeps what a transaction has changed. The writer's thread waits here, with the transaction open, until it is
    /// certain what comes of it.
    ///
    /// - Parameters:
    ///   - effects: in the form of ``Effects``.
    ///   - rows: of a queue beside the log, which are taken out of it in the same commit.
    /// - Returns: the number under which they are kept, greater than each before it. The copy has it in the same commit.
    /// - Throws: the transaction is given up. With `notKept`, the effects are not kept, and never will be. With `copyIsBehind`
    ///   they may be: the gate keeps nothing more, and the copy has to be brought to the end of what is kept.
    func keep(_ effects: [UInt8], taking rows: [Int64]) throws(LMDBError) -> UInt64
}

extension CommitGate {
    /// Keeps what a transaction has changed that takes nothing out of a queue.
    package func keep(_ effects: [UInt8]) throws(LMDBError) -> UInt64 { try keep(effects, taking: []) }
}

extension LMDBError.Code {
    /// What a transaction changed is kept by the ``CommitGate``, or may be, and not in the copy, which has to read it from there.
    package static let copyIsBehind = Self(rawValue: -2)
    /// The ``CommitGate`` has refused what a transaction changed.
    package static let notKept = Self(rawValue: -3)
}
