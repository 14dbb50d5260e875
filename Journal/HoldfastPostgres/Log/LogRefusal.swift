/// The SQLSTATEs with which the functions of the log refuse a call for good.
package enum LogRefusal {
    /// The journal has another owner.
    package static let lost = OwnershipCalls.lostState
    /// The log has another commit of this number.
    package static let otherCommit = "HF002"
    /// The number does not follow the log's last one.
    package static let gap = "HF003"
    /// The call does not fit the state of checkpoints.
    package static let outOfTurn = "HF004"
    /// The part of the log that is to be read was truncated meanwhile.
    package static let moved = "HF005"
    /// The journal's outcomes were put by another call.
    package static let outcomesMoved = "HF007"
    /// A commit takes rows of the outbox that are not there.
    package static let rowsGone = "HF008"
    /// Another commit has claimed an identity of this one at the same instant.
    package static let claimedMeanwhile = "HF014"
    /// Somebody reads what is to be truncated.
    package static let inUse = "55P03"
}
