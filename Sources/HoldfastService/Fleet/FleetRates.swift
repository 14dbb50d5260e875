internal import Holdfast
internal import HoldfastPostgres
internal import Logging

/// Divides the rate limits of routes among the hosts that live. All engines of this host share its part.
final class FleetRates: Sendable {
    let shared = SharedRates()
    private let hosts = Monitor(LiveHosts())
    private let clock: EngineClock
    private let logger: Logger

    /// - Parameter clock: that goes on while the machine sleeps.
    init(_ clock: EngineClock, _ logger: Logger) {
        self.clock = clock
        self.logger = logger
    }

    /// The hosts that something can be left to, with this one.
    var present: Int { hosts.withLock { $0.present } }

    /// The journals that the others of them accept into.
    var presentJournals: Set<Int32> { hosts.withLock { $0.presentJournals } }

    /// All journals were looked at, of which this host has some.
    func looked(_ journals: [ListedJournal], mine: Set<Int32>) {
        let now = clock.monotonic()
        let count = hosts.withLock { $0.looked(journals, mine: mine, at: now) }
        guard count != shared.hosts else { return }
        shared.divide(among: count)
        let whose = count == 1 ? "this host's alone" : "divided among \(count) hosts"
        logger.info("limits of routes are \(whose) from now on")
    }
}
