internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastJournal
internal import HoldfastPQ
package import HoldfastPostgres
internal import Logging

/// The place of this host among those that share a database: its directory, and the journal that it accepts into.
package struct FleetPlace: Sendable {
    package let terms: HostTerms
    package let directory: HostDirectory
    package let own: OwnedJournal
    /// Carries orders to all journals out at its own.
    let orders: JournalOrders
    let shared: FleetShares
    /// Of the routes of all engines of this host, divided among the hosts that live.
    let rates: FleetRates
    /// What the database may lose, in whole sentences.
    let losses: [String]
    /// Of this process.
    let record: FleetRecord

    /// Opens journals with the keys of now. ``terms`` has those of the start.
    func journals(onNews: @escaping @Sendable (HostNews) -> Void) -> HostJournals {
        var terms = terms
        terms.options.keys = shared.keys.withLock(\.self)
        return HostJournals(terms, directory, onNews: onNews)
    }

    /// What is wrong with the servers of the connection string.
    func serverConditions(now: WallTime) -> [HealthCondition] {
        (terms.target.servers?.warnings ?? []).map { warning in
            HealthCondition(
                .oldPrimary, .fault, "database", warning.server.place, since: now, what: warning.what,
                next: warning.next,
                command: "holdfast postgres status")
        }
    }

    /// Opens the journal that this host accepts into. The database is waited for as long as it is away, and so is room on a full
    /// disk: other hosts deliver meanwhile what this one has left.
    ///
    /// - Parameters:
    ///   - addresses: where it will be listened. A host that can't takes no journal: each start would make one, and leave it.
    ///   - record: takes what befalls the journals of this host.
    ///   - onWaiting: told what is waited for, and `nil` when nothing is any more.
    /// - Throws: ``JournalError``, `GatewayError`, and `CancellationError` when the task is cancelled.
    static func open(
        _ settings: PostgresSettings, _ journal: JournalSettings, listeningOn addresses: [ListenAddress] = [],
        _ record: FleetRecord, times: LeaseTimes = LeaseTimes(), clock: EngineClock = .system, logger: Logger,
        onWaiting: @escaping @Sendable (OpeningWait?) -> Void = { _ in }
    ) async throws -> OpenedJournal {
        var terms = try settings.terms(try journal.options(create: true))
        (terms.times, terms.clock) = (times, clock)
        let path = journal.copies
        try CopiesCheck.examinePlace(path)
        for address in addresses { try address.requireBindable() }
        // Without room there is no other place for a note.
        let memory = OpeningMemory(path)
        let log = FleetLog(logger, record, clock: clock) { wait in
            memory.note(wait)
            onWaiting(wait)
        }
        // Once it is there, this process keeps it.
        var directory: HostDirectory?
        var pause = firstPause
        while true {
            var hasRoom = false
            do {
                try HostDirectory.examineRoom(path)
                hasRoom = true
                log.tell(.goesOn)
                let place = try directory ?? HostDirectory(path)
                directory = place
                place.introduce(terms.host)
                do {
                    return try await open(terms, place, record, logger: logger, onWaiting: onWaiting)
                } catch let error as JournalError {
                    throw place.failure(error)
                }
            } catch let error as JournalError where error.code == .diskFull {
                let words = hasRoom ? "\(error.message) \(HostDirectory.wants(at: path))" : error.message
                log.lacksRoom(words)
                try await Task.sleep(for: pause)
                pause = min(pause * 2, greatestPause)
            }
        }
    }

    /// From one try on a full disk to the next.
    private static let firstPause = Duration.seconds(1)
    private static let greatestPause = Duration.seconds(30)

    private static func open(
        _ terms: HostTerms, _ directory: HostDirectory, _ record: FleetRecord, logger: Logger,
        onWaiting: @escaping @Sendable (OpeningWait?) -> Void
    ) async throws -> OpenedJournal {
        var terms = terms
        let log = FleetLog(logger, record, clock: terms.clock) { wait in
            directory.note(wait)
            onWaiting(wait)
        }
        let patience = Task {
            try await Task.sleep(for: .seconds(5))
            log.takesLong()
        }
        defer {
            patience.cancel()
            log.ended()
        }
        terms.watchServers(directory)
        let servers = try ServerWatch(terms)
        // Before the copy of the blacklist is touched.
        try HostDirectory.examineOwnSeal(directory.path, terms.options.keys)
        let shared = try await FleetShares(terms, directory, logger: logger)
        terms.options.blacklist = shared.blacklist
        let journals = HostJournals(terms, directory) { log.tell($0) }
        let stop = try OpeningStop()
        let rates = FleetRates(terms.clock, logger)
        let (own, orders): (OwnedJournal, FleetOrders)
        do {
            (own, orders) = try await withTaskCancellationHandler {
                try await OwnThread.run("holdfast-opening") {
                    let own = try journals.openOwn(stop)
                    shared.catchUp(stop, onWaiting: { log.tell(.waiting($0)) })
                    // Before anything is handed out.
                    do throws(JournalError) {
                        rates.looked(try journals.list(stop), mine: [own.id])
                        return (own, try journals.orders(stop, for: own))
                    } catch {
                        own.close()
                        throw error
                    }
                }
            } onCancel: {
                stop.stop()
            }
        } catch {
            shared.close()
            // Whoever ended it knows why.
            try Task.checkCancellation()
            throw error
        }
        logger.info("journal \(own.name) in PostgreSQL is this host's; its working copy is \(own.directory)")
        let warnings = await losses(terms, logger)
        let place = FleetPlace(
            terms: terms, directory: directory, own: own, orders: JournalOrders(own.journal, orders), shared: shared,
            rates: rates, losses: warnings, record: record)
        var opened = OpenedJournal(
            journal: own.journal, directory: own.directory, warnings: own.journal.warnings + warnings,
            wantsRoom: { own.wantOfRoom != nil })
        opened.useKeys = { (keys) throws(JournalError) in
            try own.journal.useKeys(keys)
            // For journals that are taken over from now on.
            shared.keys.withLock { $0 = keys }
        }
        servers.start()
        opened.close = {
            servers.stop()
            own.close()
            shared.close()
        }
        opened.fleet = place
        return opened
    }

    /// Says which losses are survived.
    ///
    /// - Returns: warnings.
    private static func losses(_ terms: HostTerms, _ logger: Logger) async -> [String] {
        do throws(JournalError) {
            let durability = try await OwnThread.run("holdfast-facts") { () throws(JournalError) in
                try terms.examine(by: .now + .seconds(10))
            }
            logger.info("\(durability.words)")
            return durability.warnings
        } catch {
            logger.warning("which losses the database survives is not known: \(error.message)")
            return []
        }
    }
}
