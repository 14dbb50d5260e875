import Holdfast
import HoldfastLMDB

extension WorkingCopy {
    /// Nobody writes to a copy beside what it is a copy of.
    ///
    /// - Parameter code: of the error. By the default, commands wait a moment for a host that starts.
    static func refuse(
        _ environment: Environment, _ path: String, as code: JournalError.Code = .ownedByAnotherProcess
    ) throws(JournalError) {
        let place = try translated("read", path) { () throws(LMDBError) in try Self.place(in: environment) }
        guard place != nil else { return }
        throw JournalError(
            code,
            "\(path) is a working copy of a journal in PostgreSQL, and what is written to it would be lost: let a host of the "
                + "fleet do it (`holdfast serve` with journal.postgres, which commands reach while it runs)")
    }
}
