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

    /// Opens the journal that this host accepts into. The database is waited for as long as it is away.
    ///
    /// - Throws: ``JournalError``, and `CancellationError` when the task is cancelled.
    static func open(
        _ settings: PostgresSettings, _ journal: JournalSettings, logger: Logger
    ) async throws -> OpenedJournal {
        let terms = try settings.terms(journal.options(create: true))
        let directory = try HostDirectory(journal.copies)
        let waits = WaitingWords(logger)
        let journals = HostJournals(terms, directory) { waits.tell($0) }
        let stop = try OpeningStop()
        let own = try await withTaskCancellationHandler {
            try await Self.onThread("holdfast-opening") { try journals.openOwn(stop) }
        } onCancel: {
            stop.stop()
        }
        let place = FleetPlace(terms: terms, directory: directory, own: own)
        logger.info("journal \(own.name) in PostgreSQL is this host's; its working copy is \(own.directory)")
        var opened = OpenedJournal(
            journal: own.journal, directory: own.directory, warnings: own.journal.warnings,
            wantsRoom: { own.journal.wantOfRoom != nil })
        opened.close = { own.close() }
        opened.fleet = place
        return opened
    }

    /// Runs what blocks on a thread of its own.
    static func onThread<R: Sendable, E: Error>(
        _ name: String, _ work: @escaping @Sendable () throws(E) -> R
    ) async throws(E) -> R {
        let result: Result<R, E> = await withCheckedContinuation { continuation in
            let thread = Thread {
                do throws(E) { continuation.resume(returning: .success(try work())) } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            thread.name = name
            thread.start()
        }
        return try result.get()
    }
}

/// Says in the log why an opening waits: at first, and then once a minute, or when that changes.
private final class WaitingWords: Sendable {
    private let logger: Logger
    private let last = Monitor<(words: String, at: ContinuousClock.Instant)?>(nil)

    init(_ logger: Logger) { self.logger = logger }

    func tell(_ words: String) {
        let isNew = last.withLock { last in
            if let last, last.words == words, .now - last.at < .seconds(60) { return false }
            last = (words, .now)
            return true
        }
        if isNew { logger.warning("the journal in PostgreSQL is waited for: \(words)") }
    }
}
