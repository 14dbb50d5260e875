package import Holdfast
package import HoldfastJournal
internal import HoldfastPostgres
internal import Logging

/// A journal that was opened for a service, and what is known of it.
package struct OpenedJournal: Sendable {
    package let journal: any JournalService
    /// Where its control socket is; nil for none.
    package var directory: String?
    /// Conditions found when it was opened, for the log.
    package var warnings: [String] = []
    /// Whether it refuses notifications for want of room; nil for one that does not say.
    package var wantsRoom: (@Sendable () -> Bool)?
    /// Seals with the first of these keys from now on; nil for one that does not.
    package var useKeys: (@Sendable (JournalKeys) throws(JournalError) -> Void)?
    /// Closes it, and whatever it was opened with.
    package var close: @Sendable () -> Void
    /// The journals of many hosts, of which it is one; nil for one that a directory has.
    var fleet: FleetPlace?

    package init(
        journal: any JournalService, directory: String? = nil, warnings: [String] = [],
        wantsRoom: (@Sendable () -> Bool)? = nil
    ) {
        (self.journal, self.directory) = (journal, directory)
        (self.warnings, self.wantsRoom) = (warnings, wantsRoom)
        close = { journal.close() }
    }

    /// The journal of a configuration; another owner is waited for a while.
    ///
    /// - Parameters:
    ///   - record: takes what befalls the journals of a host that shares a database.
    ///   - logger: told once that one is waited for.
    ///   - onWaiting: told what a journal in a database waits for, and `nil` when it waits for nothing any more.
    /// - Throws: ``JournalError``, and `GatewayError` where a host that shares a database can't listen.
    static func open(
        _ configuration: HoldfastConfiguration, _ record: FleetRecord, logger: Logger,
        onWaiting: @escaping @Sendable (OpeningWait?) -> Void
    ) async throws -> OpenedJournal {
        if let postgres = configuration.journal.postgres {
            return try await FleetPlace.open(
                postgres, configuration.journal,
                listeningOn: configuration.gateway.listeners.map(\.listener.listen), record, logger: logger,
                onWaiting: onWaiting)
        }
        // A configuration without one was refused before.
        let journal = try await configuration.journal.openPatiently(at: configuration.journal.path ?? "") { error in
            let patience = Format.duration(JournalOpening.patienceWithOwners)
            logger.warning("\(error.message); it is waited for, \(patience) at most")
        }
        var opened = OpenedJournal(
            journal: journal, directory: journal.directory, warnings: journal.warnings,
            wantsRoom: { journal.wantOfRoom != nil })
        opened.useKeys = { (keys) throws(JournalError) in try journal.useKeys(keys) }
        return opened
    }
}
