internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// Limits that bear on each other.
struct LimitFacts: Sendable {
    struct Route: Sendable {
        var name: String
        var connections: Int
        /// Requests at a time on a connection; nil for the binary protocol.
        var streams: Int?
    }

    var window: Int
    var routes: [Route]
    /// What an orderly end may take: for senders, and then for what is in flight.
    var drainLimit: Duration
    var shutdownLimit: Duration
    var unit: UnitFacts?
    /// Descriptors that the configuration may take, and that are kept for delivery.
    var descriptorsWanted: Int
    /// What holds of the service's process: its own limit while it runs, else the unit's, else this shell's.
    var descriptorLimit: (count: Int, whose: String)?
    /// Descriptors that the running service has open.
    var descriptorsOpen: Int?
    var webhooks: [(name: String, retry: Duration)]
    /// Zero for no history.
    var historyKeep: Duration
    /// The apns-ids that are to be remembered; zero for none.
    var rememberedIDs = 0
    var journalLimit = Int.max
}

extension LimitFacts {
    var findings: [DoctorFinding] {
        [descriptors].compactMap(\.self) + [stop].compactMap(\.self) + routes.compactMap(windowFinding)
            + webhooks.compactMap { webhookFinding($0.name, $0.retry) } + [ids].compactMap(\.self)
    }

    private var descriptors: DoctorFinding? {
        guard let (limit, whose) = descriptorLimit else {
            return .skipped(.descriptors, "open-files", nil, "nobody says how many files may be open")
        }
        let open = descriptorsOpen.map { "; \(Format.count($0)) are open now" } ?? ""
        let count = limit == .max ? "no limit" : Format.count(limit)
        let words = "\(whose): \(count); the configuration may take \(Format.count(descriptorsWanted))\(open)"
        let next =
            "raise it: `LimitNOFILE=` of the unit, `ulimit -Hn` of a shell; or lower `connections` of the listeners"
        if let descriptorsOpen, limit < .max, descriptorsOpen > limit / 10 * 9 {
            return .fault(.descriptors, "open-files", nil, "\(words): hardly any are left", next: next)
        }
        if descriptorsWanted > limit {
            return .warning(
                .descriptors, "open-files", nil,
                "\(words): the listeners share what is left, and refuse senders above that",
                next: next)
        }
        return .ok(.descriptors, "open-files", nil, words)
    }

    private var stop: DoctorFinding? {
        guard let unit else { return .skipped(.limits, "stop", nil, "there is no unit of systemd for the service") }
        let needed = drainLimit + shutdownLimit
        let words = "an orderly end may take \(Format.duration(needed)) (gateway.drain-limit and limits.shutdown-limit)"
        guard let limit = unit.stopLimit else { return .ok(.limits, "stop", nil, "\(words); the unit sets no limit") }
        if needed >= limit {
            return .warning(
                .limits, "stop", unit.path,
                "\(words), and systemd kills after \(Format.duration(limit)): what is in flight then is sent twice",
                next: "raise TimeoutStopSec above that, or lower the limits")
        }
        return .ok(.limits, "stop", nil, "\(words); systemd waits for \(Format.duration(limit))")
    }

    private func windowFinding(_ route: Route) -> DoctorFinding? {
        guard let streams = route.streams else { return nil }
        let room = route.connections * streams
        let words =
            "limits.window lets \(Format.count(window)) be in flight; \(Format.plural(route.connections, "connection")) have room for "
            + "\(Format.count(room))"
        if window < route.connections {
            return .warning(
                .limits, "window", route.name, "\(words): not every connection is used",
                next: "raise limits.window to \(route.connections) or more, or lower the route's connections")
        }
        return .ok(.limits, "window", route.name, words)
    }

    /// About what a remembered id takes in a journal, with the tree around it.
    private static let idByteCount = 75

    private var ids: DoctorFinding? {
        let room = journalLimit / HoldfastJournal.JournalOptions.identityPart
        guard rememberedIDs * Self.idByteCount > room else { return nil }
        return .warning(
            .limits, "ids", nil,
            "limits.ids.count wants \(Format.count(rememberedIDs)) apns-ids remembered, which take about "
                + "\(Format.bytes(rememberedIDs * Self.idByteCount)); they get a quarter of journal.limit, "
                + "\(Format.bytes(room)): beyond about \(Format.count(room / Self.idByteCount)), the oldest are "
                + "forgotten, and a repeat of them may be sent again",
            next: "lower limits.ids.count to that, or raise journal.limit")
    }

    private func webhookFinding(_ name: String, _ retry: Duration) -> DoctorFinding? {
        guard historyKeep > .zero, retry >= historyKeep else { return nil }
        return .warning(
            .limits, "webhook", name,
            "it waits up to \(Format.duration(retry)) between two tries, and outcomes are kept for \(Format.duration(historyKeep)): "
                + "some go untold",
            next: "lower webhooks.retry.maximum, or raise journal.history.keep")
    }
}
