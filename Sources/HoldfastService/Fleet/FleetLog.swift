internal import Foundation
internal import Holdfast
internal import HoldfastPostgres
internal import Logging

/// Says in the log what happens while journals are opened. A reason for waiting is said at first, and then once a minute, or
/// when it changes.
final class FleetLog: Sendable {
    private let logger: Logger
    private let clock: EngineClock
    private let onWaiting: @Sendable (OpeningWait?) -> Void
    private let wait = Monitor<OpeningWait?>(nil)
    private let last = Monitor<(words: String, at: ContinuousClock.Instant)?>(nil)
    private let record: FleetRecord
    private let isOpening = Monitor(true)
    private let journal: String?

    /// - Parameters:
    ///   - record: takes what operators should know of further on; as conditions of the service, it is logged as such.
    ///   - journal: a lost host's that is opened; nil for this host's own.
    ///   - onWaiting: told what is waited for, and `nil` when nothing is any more.
    init(
        _ logger: Logger, _ record: FleetRecord, clock: EngineClock = .system, journal: String? = nil,
        onWaiting: @escaping @Sendable (OpeningWait?) -> Void = { _ in }
    ) {
        self.journal = journal
        (self.logger, self.record, self.clock, self.onWaiting) = (logger, record, clock, onWaiting)
    }

    func tell(_ news: HostNews) {
        switch news {
        case .away(let trouble): waits(trouble.words, trouble.kind)
        case .waiting(let words): waits(words, nil)
        case .goesOn:
            let hasWaited = wait.withLock { wait in
                defer { wait = nil }
                return wait != nil
            }
            if hasWaited { onWaiting(nil) }
        case .restored, .setAside, .inDoubt, .ordersLost: record.take(news)
        }
    }

    /// The opening waits for room on this host's disk.
    func lacksRoom(_ words: String) { waits("this host has no room: \(words)", nil, lacksRoom: true) }

    /// Says why an opening may take long, where nothing is known to be wrong: its call of the database may wait for a standby.
    func takesLong() {
        isOpening.withLock { isOpening in
            guard isOpening, wait.withLock({ $0 == nil }) else { return }
            waits(
                "it is not open yet: a large journal takes its time, and while a synchronous standby is away, no commit is "
                    + "answered (`holdfast postgres status` says so)", nil)
        }
    }

    /// The opening is over, however it ended.
    func ended() {
        isOpening.withLock { $0 = false }
        tell(.goesOn)
    }

    private func waits(_ words: String, _ trouble: DatabaseTrouble.Kind?, lacksRoom: Bool = false) {
        let wait = wait.withLock { wait in
            let since = wait.flatMap { ($0.trouble == nil) == (trouble == nil) ? $0.since : nil } ?? clock.wall()
            let next = OpeningWait(
                process: ProcessInfo.processInfo.processIdentifier, since: since, trouble: trouble, words: words,
                lacksRoom: lacksRoom)
            wait = next
            return next
        }
        onWaiting(wait)
        let isNew = last.withLock { last in
            if let last, last.words == words, .now - last.at < .seconds(60) { return false }
            last = (words, .now)
            return true
        }
        guard isNew else { return }
        logger.warning("\(journal.map { "journal \($0)" } ?? "the journal") in PostgreSQL is waited for: \(words)")
    }
}
