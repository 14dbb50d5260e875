internal import Foundation
internal import Holdfast
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastService

/// Looks at the journals of a fleet in their database, and changes nothing.
enum DatabaseLook {
    /// What a call may take.
    static var deadline: ContinuousClock.Instant { .now + .seconds(10) }

    /// Connects with 10 seconds of patience.
    ///
    /// - Parameters:
    ///   - copies: the directory of this host's working copies, where that is known.
    ///   - onNews: told of a server that seems to be an old primary.
    static func connect(
        _ settings: PostgresSettings, copies: String? = nil,
        onNews: @escaping @Sendable (ServerWarning) -> Void = { Console.standard.warning(once: $0.description) }
    ) throws -> PQConnection {
        do throws(PQError) {
            var target = try PQTarget(settings.connection)
            // The newest of those that can be written to, and no old primary.
            target.servers = PQServers(seenFrom: copies, onNews: onNews)
            return try target.connect(
                PQSession(applicationName: "holdfast tool", lockPatience: LockPatience.command), by: deadline,
                PQInterruption())
        } catch {
            throw ToolError(error)
        }
    }

    /// Each server of the string by itself, with 3 seconds of patience; none where it names one.
    static func servers(_ settings: PostgresSettings) throws -> [SurveyedServer] {
        do throws(PQError) {
            let target = try PQTarget(settings.connection)
            return target.hasSeveralServers ? target.survey(within: .seconds(3), try PQInterruption()) : []
        } catch {
            throw ToolError(error)
        }
    }

    /// Whether an owner lives is found by looking twice, 2.5 seconds apart.
    static func look(_ schema: SchemaName, _ connection: PQConnection) throws(PQError) -> FleetReport {
        let calls = OwnershipCalls(schema)
        let durability = try DatabaseDurability(connection, by: deadline)
        let first = try calls.list(connection, by: deadline)
        let isAnyOwned = first.contains { !$0.sighting.isFree }
        if isAnyOwned { Thread.sleep(forTimeInterval: 2.5) }
        let second = isAnyOwned ? try calls.list(connection, by: deadline) : first
        let sessions = try JournalSessions(connection, by: deadline)
        let releases = try calls.releasesIfAllowed(connection, by: deadline)
        let losses = try calls.lossesIfAllowed(connection, by: deadline)
        var journals: [FleetReport.Journal] = []
        for journal in second {
            var report = FleetReport.Journal(journal, before: first.first { $0.id == journal.id })
            if report.state == .silent { report.silentSeconds = sessions.silence(of: journal.id) }
            if report.state == .free { report.freeSeconds = releases[journal.id] }
            if report.state == .closed { report.closedSeconds = releases[journal.id] }
            report.mayLack = losses[journal.id].map(FleetReport.Journal.Loss.init)
            report.commitWaitsSeconds = sessions.waitForStandby(of: journal.id)
            try report.add(space(schema, journal.id, connection))
            journals.append(report)
        }
        var report = FleetReport(schema: schema.description, durability, journals)
        if let refusal = connection.facts.readOnlyRefusal { report.add(readOnly: refusal) }
        return report
    }

    /// - Returns: nil for who may not ask.
    private static func space(
        _ schema: SchemaName, _ journal: Int32, _ connection: PQConnection
    ) throws(PQError) -> LogState? {
        try ifAllowed { () throws(PQError) in try LogCalls(schema, journal: journal).state(connection, by: deadline) }
    }

    /// - Returns: nil for who may not ask.
    private static func ifAllowed<R>(_ call: () throws(PQError) -> R) throws(PQError) -> R? {
        do throws(PQError) { return try call() } catch {
            guard error.sqlState == "42501" else { throw error }
            return nil
        }
    }
}

extension ToolError {
    init(_ error: PQError) {
        let status: ToolStatus =
            switch error.kind {
            case .unreachable, .inDoubt, .interrupted: .unavailable
            case .refused:
                switch error.sqlState {
                // Of the database itself, as of a journal that does not exist.
                case "3D000": .noInput
                case let state? where state.hasPrefix("28") || state == "42501": .noPermission
                default: .unavailable
                }
            case .configuration: .configuration
            case .unexpected: .internalFault
            }
        self.init(status, "the database: \(error)" + (error.advice.map { ". \($0)" } ?? ""))
    }
}
