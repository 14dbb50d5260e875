internal import Foundation
internal import Holdfast
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
    /// What the database may lose.
    let losses: [String]
    /// Of the host's own journal, at its opening and while it lives.
    let log: FleetLog

    /// What an operator should know all the time of the database and of the journal, in whole sentences.
    package var warnings: [String] { losses + log.warnings }

    /// Opens the journal that this host accepts into. The database is waited for as long as it is away.
    ///
    /// - Throws: ``JournalError``, and `CancellationError` when the task is cancelled.
    static func open(
        _ settings: PostgresSettings, _ journal: JournalSettings, times: LeaseTimes = LeaseTimes(), logger: Logger
    ) async throws -> OpenedJournal {
        var terms = try settings.terms(try journal.options(create: true))
        terms.times = times
        try FormerJournals.refuse(in: journal.copies)
        let directory = try HostDirectory(journal.copies)
        let log = FleetLog(logger)
        let shared = try FleetShares(terms, directory)
        terms.options.blacklist = shared.blacklist
        let journals = HostJournals(terms, directory) { log.tell($0) }
        let stop = try OpeningStop()
        let rates = FleetRates(terms.clock, logger)
        let (own, orders): (OwnedJournal, FleetOrders)
        do {
            (own, orders) = try await withTaskCancellationHandler {
                try await Self.onThread("holdfast-opening") {
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
            rates: rates, losses: warnings, log: log)
        var opened = OpenedJournal(
            journal: own.journal, directory: own.directory, warnings: own.journal.warnings + warnings,
            wantsRoom: { own.journal.wantOfRoom != nil })
        opened.useKeys = { (keys) throws(JournalError) in try own.journal.useKeys(keys) }
        opened.close = {
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
            let durability = try await onThread("holdfast-facts") { () throws(JournalError) in
                try terms.examine(by: .now + .seconds(10))
            }
            logger.info("\(durability.words)")
            return durability.warnings
        } catch {
            logger.warning("which losses the database survives is not known: \(error.message)")
            return []
        }
    }

    /// Runs what blocks on a thread of its own.
    static func onThread<R: Sendable, E: Error>(
        _ name: String, _ work: @escaping @Sendable () throws(E) -> R
    ) async throws(E) -> R {
        try await OwnThread.run(name, work)
    }
}

/// Says in the log what happens while journals are opened. A reason for waiting is said at first, and then once a minute, or
/// when it changes.
final class FleetLog: Sendable {
    private let logger: Logger
    private let last = Monitor<(words: String, at: ContinuousClock.Instant)?>(nil)
    private let kept = Monitor<[(subject: String, words: String)]>([])

    init(_ logger: Logger) { self.logger = logger }

    /// What an operator should know of further on, in whole sentences.
    var warnings: [String] { kept.withLock { $0.map(\.words) } }

    func tell(_ news: HostNews) {
        switch news {
        case .waiting(let words):
            let isNew = last.withLock { last in
                if let last, last.words == words, .now - last.at < .seconds(60) { return false }
                last = (words, .now)
                return true
            }
            if isNew { logger.warning("the journal in PostgreSQL is waited for: \(words)") }
        case .restored(let journal, let first, let last):
            keep(
                "The database had lost commits \(first + 1) to \(last) of journal \(journal), and has them again from this "
                    + "host's copy: nothing of this journal is lost. Was a standby promoted that lacked them? Journals of hosts that are gone may have lost some",
                about: "restored \(journal)")
        case .setAside(let journal, let copy, .foreign):
            keep(
                "\(copy) is a copy of journal \(journal) of another database, or of one that this database does not have: it is kept, "
                    + "and nothing of it is used. `holdfast journal status --journal \(copy)` says what waits in it. If that other "
                    + "database delivers it, or nothing is missed, remove what ends with .aside while the service is stopped",
                about: journal)
        case .setAside(let journal, let copy, .apart(let last, let log)):
            keep(
                "The database had lost commits of journal \(journal), and others have gone on from what it has: it ends with commit "
                    + "\(log), and \(copy) with commit \(last) of another line. The journal goes on as the database has it. The copy is "
                    + "kept: `holdfast journal status --journal \(copy)` says what waits in it", about: journal)
        case .ordersLost(let journal, let number, let back, let refused):
            keep(Self.words(ordersLostAfter: number, journal, back, refused), about: "orders \(journal)")
        }
    }

    private static func words(
        ordersLostAfter number: Int64, _ journal: String, _ back: [FleetOrder], _ refused: [FleetOrder]
    ) -> String {
        func list(_ orders: [FleetOrder]) -> String { orders.map(\.pauseWords).joined(separator: ", ") }
        var words =
            "The database went back to before orders to the fleet that journal \(journal) has carried out: it knew none behind "
            + "order \(number). What was paused there stays paused"
        if !back.isEmpty { words += "; put back for all journals: \(list(back))" }
        if !refused.isEmpty {
            words += "; hosts that come later would send, unless it is ordered again with --fleet: \(list(refused))"
        }
        return words
            + ". Look at `holdfast lanes list --fleet` and `holdfast tags list --fleet`, and resume what is to go"
    }

    /// - Parameter subject: of which the last words are what counts.
    private func keep(_ words: String, about subject: String) {
        logger.error("\(words)")
        kept.withLock { kept in
            kept.removeAll { $0.subject == subject }
            kept.append((subject, words))
        }
    }
}

extension FleetOrder {
    /// What a pause is about.
    fileprivate var pauseWords: String {
        switch subject {
        case .lanes(let pattern?): "lanes \(pattern.description.printable(maximumLength: 320))"
        case .lanes(nil): "all lanes"
        case .tags(let tag): "tag \(String(decoding: tag ?? [], as: UTF8.self).printable(maximumLength: 256))"
        }
    }
}
