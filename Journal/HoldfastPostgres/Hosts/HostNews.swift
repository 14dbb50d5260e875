internal import Holdfast

/// What happens while a host opens a journal.
package enum HostNews: Sendable {
    /// The database can't be used, for this reason, and is waited for.
    case away(DatabaseTrouble)
    /// It waits, for this reason.
    case waiting(String)
    /// It waits no more.
    case goesOn
    /// The database had lost the commits behind the first number, and has them again from this host's copy, up to the second.
    case restored(journal: String, from: UInt64, to: UInt64)
    /// The database and this host's copy each have commits that the other lacks, or the copy is of another database. The journal
    /// goes on as the database has it, and the copy is kept at this path.
    case setAside(journal: String, copy: String, why: SetAside)

    /// The host that had it was lost with commits that the database may lack: what it accepted last may be lost, and what is there
    /// counts as possibly sent.
    case inDoubt(journal: String, LossWindow)

    /// The database went back to before orders to the fleet that this journal has carried out: it has none behind that number. The
    /// first of these pauses are in it again, the others can't be.
    case ordersLost(journal: String, after: Int64, putBack: [FleetOrder], refused: [FleetOrder])

    package enum SetAside: Hashable, Sendable {
        /// The copy is of another database, or of another journal.
        case foreign
        /// The copy ends at the first commit, the database at the second.
        case apart(copy: UInt64, log: UInt64)
    }
}
