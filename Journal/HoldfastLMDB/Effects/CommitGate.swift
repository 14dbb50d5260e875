/// Where the commits of an environment are kept before it makes them itself: such an environment is a working copy of what
/// lies elsewhere, and may be lost.
package protocol CommitGate: Sendable {
    /// Keeps what a transaction has changed. The writer's thread waits here, with the transaction open, until it is
    /// certain what comes of it.
    ///
    /// - Parameters:
    ///   - effects: in the form of ``Effects``.
    ///   - rows: of a queue beside the log, which are taken out of it in the same commit.
    ///   - claims: keys that the transaction adds, and that no other transaction of any environment with such a gate may have.
    /// - Throws: the transaction is given up. With `notKept` and `rowsGone`, the effects are not kept, and never will be. With
    ///   `copyIsBehind` they may be: the copy has to be brought to the end of what is kept. The gate keeps nothing more, except
    ///   after `rowsGone`.
    func keep(_ effects: [UInt8], taking rows: [Int64], claiming claims: [CommitClaim]) throws(LMDBError) -> GateAnswer
}

/// A key of 16 bytes, and what it stands for, of which there is to be one among all environments of a kind of gate.
package struct CommitClaim: Hashable, Sendable {
    /// The first half of the key.
    package let high: UInt64
    /// The second half of the key.
    package let low: UInt64
    package let value: UInt64

    package init(high: UInt64, low: UInt64, value: UInt64) {
        self.high = high
        self.low = low
        self.value = value
    }
}

/// What a gate says of a transaction's changes.
package enum GateAnswer: Hashable, Sendable {
    /// The number under which they are kept, greater than each before it. The copy has it in the same commit.
    case kept(UInt64)
    /// Nothing is kept: others have these of its claims, with their values. The gate keeps the next transaction as before.
    case claimed([CommitClaim])
}

extension LMDBError.Code {
    /// What a transaction changed is kept by the ``CommitGate``, or may be, and not in the copy, which has to read it from there.
    package static let copyIsBehind = Self(rawValue: -2)
    /// The ``CommitGate`` has refused what a transaction changed.
    package static let notKept = Self(rawValue: -3)
    /// The queue does not have the rows that a transaction takes. The ``CommitGate`` keeps the next transaction as before.
    package static let rowsGone = Self(rawValue: -4)
}
