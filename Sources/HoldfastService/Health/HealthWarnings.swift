internal import Holdfast

/// Warnings for somebody to look at, although senders are served. One line each, for `/health/ready`.
enum HealthWarnings {
    /// Lanes and topics that are named, of each kind; the rest are counted.
    static let greatestCount = 20

    /// Damage by which accepted notifications stand still, or the blacklist lets tokens through; nil when there is none.
    static func damage(_ status: EngineStatus) -> String? {
        guard status.unreachable > 0 else {
            guard status.blacklistDamage > 0 else { return nil }
            let places = Format.plural(status.blacklistDamage, "place")
            return
                "the blacklist is damaged in \(places): notifications to tokens on it may be sent; stop the service, and "
                + "copy what is sound with `holdfast journal verify --salvage NEW`"
        }
        let entries = Format.plural(status.unreachable, "entry", "entries")
        return "the journal is damaged: \(entries) cannot be reached; stop the service, and copy what is sound with "
            + "`holdfast journal verify --salvage NEW`"
    }

    static func of(_ status: EngineStatus) -> [String] {
        var warnings: [String] = []
        if status.quarantined > 0 {
            let entries = Format.plural(status.quarantined, "entry whose record", "entries whose records")
            warnings.append("\(entries) cannot be read: see `holdfast journal quarantine list`")
        }
        if status.unreadableOutcomes > 0 {
            let outcomes = Format.plural(status.unreadableOutcomes, "outcome")
            warnings.append(
                "the history is damaged: \(outcomes) cannot be read, and readers are told of a gap; no notification is "
                    + "affected; `holdfast journal verify` says what is damaged")
        }
        let stopped = status.lanes.compactMap(warning)
        let topics = status.topicsSetAside.sorted { $0.key < $1.key }.flatMap { route, topics in
            topics.map { warning($0, on: route) }
        }
        let parked = status.parked.sorted { $0.key < $1.key }.map { route, parking in
            "route \(route.printable(maximumLength: 256)) is \(parking)"
        }
        return warnings + bounded(parked, "routes are parked") + bounded(stopped, "lanes are stopped")
            + bounded(topics, "topics are set aside")
    }

    /// The entries that wait in lanes whose route is gone from the configuration.
    static func unserved(_ lanes: [JournalStatus.Lane]) -> [String] {
        let lines = lanes.map { lane in
            let name = lane.key.description.printable(maximumLength: 320)
            return
                "lane \(name) holds \(Format.plural(lane.unconfirmed, "notification")) and is not delivered, because the "
                + "configuration has no route of that name: add it, or take back what waits with "
                + "`holdfast journal drop --lane \(name)`"
        }
        return bounded(lines, "lanes have no route")
    }

    private static func warning(_ lane: EngineStatus.Lane) -> String? {
        guard case .stopped(let reason, let since) = lane.state else { return nil }
        let probe = lane.nextProbeAt.map { "; one entry is tried at \(Timestamp.format($0))" } ?? ""
        return
            "lane \(lane.key.description.printable(maximumLength: 320)) is stopped since \(Timestamp.format(since)), "
            + "because: \(reason.printable(maximumLength: 512))\(probe)"
    }

    private static func warning(_ topic: EngineStatus.Topic, on route: String) -> String {
        let probe = topic.nextProbeAt.map { "; one entry of it is tried at \(Timestamp.format($0))" } ?? ""
        return "topic \(topic.topic.printable(maximumLength: 256)) is set aside on route "
            + "\(route.printable(maximumLength: 256)) since \(Timestamp.format(topic.since)), because: "
            + "\(topic.reason.printable(maximumLength: 512))\(probe)"
    }

    private static func bounded(_ lines: [String], _ what: String) -> [String] {
        guard lines.count > greatestCount else { return lines }
        return lines.prefix(greatestCount) + ["\(Format.count(lines.count - greatestCount)) more \(what)"]
    }
}
