package import Holdfast
package import HoldfastLMDB
package import HoldfastPQ

/// A reason for which a working copy can't be brought to the end of its log. Its description says what to do.
package enum CopyError: Error, Sendable, CustomStringConvertible {
    /// May succeed later: what is in the copy stays, and is read on from.
    case database(PQError)
    case ownershipLost
    /// The log was trimmed while it was read, by another owner.
    case moved
    case copy(LMDBError)
    /// The directory around the copy can't be made.
    case place(JournalError)
    /// The copy has commits that the log lacks, or others of the same numbers.
    case rolledBack(copy: UInt64, log: UInt64)
    /// A journal that is no copy of a log.
    case notACopy(String)
    case missing(commit: UInt64)
    case damaged(commit: UInt64, Effects.Damage)
    case missingChunk(UInt64, checkpoint: UInt64)
    case damagedChunk(UInt64, checkpoint: UInt64, Effects.Damage)

    package var description: String {
        switch self {
        case .database(let error): error.description
        case .ownershipLost: "the journal has another owner"
        case .moved: "the log was trimmed by another owner while it was read"
        case .copy(let error): error.description
        case .place(let error): error.message
        case .rolledBack(let copy, let log):
            "the database has lost commits: this host's copy has commit \(copy), which the log, ending with commit \(log), does "
                + "not have. Was a standby promoted that lacked them? Keep the copy, since nothing else has those commits, and "
                + "see what it has by `holdfast journal status --journal`"
        case .notACopy(let path):
            "\(path) has a journal that is no copy of a journal in PostgreSQL: name another directory, or move it away"
        case .missing(let commit):
            "the log lacks rows of commit \(commit): restore the database from a backup that has them"
        case .damaged(let commit, let damage):
            "commit \(commit) in the log is damaged (\(damage)): restore the database from a backup that has it"
        case .missingChunk(let chunk, let checkpoint):
            "the checkpoint of commit \(checkpoint) lacks rows of chunk \(chunk): restore the database from a backup that has them"
        case .damagedChunk(let chunk, let checkpoint, let damage):
            "chunk \(chunk) of the checkpoint of commit \(checkpoint) is damaged (\(damage)): restore the database from a backup "
                + "that has it"
        }
    }

    init(_ error: PQError) {
        self =
            switch error.kind == .refused ? error.sqlState : nil {
            case LogRefusal.lost: .ownershipLost
            case LogRefusal.moved: .moved
            default: .database(error)
            }
    }
}
