internal import Dispatch
internal import Logging

/// The engine's services for one route's connector: the journal's notes, and reports to the route's Consumer.
final class RouteHost: ConnectorHost.Services {
    private let journal: any JournalService
    private let route: String
    private let log: EngineLog
    private let conditions: EngineConditions
    private let tell: @Sendable (ConnectorNotice) -> Void
    private let renew: @Sendable () -> Void
    /// Notes are written one after the other, since each waits for its commit.
    private let writer = DispatchQueue(label: "holdfast-notes")

    init(
        journal: any JournalService, route: String, log: EngineLog, conditions: EngineConditions,
        tell: @escaping @Sendable (ConnectorNotice) -> Void,
        renew: @escaping @Sendable () -> Void
    ) {
        self.journal = journal
        (self.route, self.conditions) = (route, conditions)
        self.log = log
        self.tell = tell
        self.renew = renew
    }

    func note(_ name: String) -> [UInt8]? {
        do throws(JournalError) {
            return try journal.note(ConnectorHost.notePrefix + name)
        } catch {
            log(.noteFailed, "a connector's note can't be read: \(error)", error.metadata)
            return nil
        }
    }

    func setNote(_ name: String, to value: [UInt8]?) {
        writer.async { [journal, log] in
            do throws(JournalError) {
                try journal.setNote(ConnectorHost.notePrefix + name, to: value)
            } catch {
                log(.noteFailed, "a connector's note is not kept: \(error)", error.metadata)
            }
        }
    }

    func credentialsChanged() { renew() }

    func report(_ notice: ConnectorNotice) {
        // A condition has a line of its own.
        if !conditions.connector(of: route, says: notice) {
            log(
                notice.isWarning ? .connectorWarning : .connectorNotice, "\(notice.message)",
                ["kind": .string(notice.kind.rawValue)])
        }
        tell(notice)
    }
}
