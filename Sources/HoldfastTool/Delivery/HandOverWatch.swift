internal import Holdfast
internal import HoldfastService

/// Judges from what the owner of a journal says whether it is worth waiting for entries in it. A pure machine; time is told
/// to it.
struct HandOverWatch {
    struct Finding: Equatable {
        /// Why nothing is sent at the moment.
        var trouble: String?
        /// Why waiting should end.
        var error: ToolError?
    }

    /// How long the journal may be without an owner: a service that is restarted has another one soon.
    static let ownerLimit = Duration.seconds(10)

    /// How long a lane may be stopped: it tries another entry soon, and one refused entry may have stopped it.
    static let stopLimit = Duration.seconds(5)

    /// The entries that are waited for.
    struct Awaited: Equatable {
        var count = 0
        var lanes: Set<LaneKey> = []
        /// The topics that entries wait for.
        var topics: Set<String> = []
        /// Why one goes again later.
        var putOff: Reason?
    }

    /// How long nothing may be sent, or be sent in vain, in one piece; nil for ever.
    let giveUpAfter: Duration?
    private var lastOwned: Duration?
    private var wellAt: Duration?
    private var stoppedAt: Duration?
    private var count = 0
    /// A deferred entry counts as in trouble also while it is tried again.
    private var putOff: Reason?

    init(giveUpAfter: Duration?) { self.giveUpAfter = giveUpAfter }

    /// - Parameter status: nil when nobody serves the journal.
    mutating func look(_ status: DeskStatus?, _ awaited: Awaited, at now: Duration) -> Finding {
        if awaited.count < count { (wellAt, putOff) = (now, nil) }
        (count, putOff) = (awaited.count, awaited.putOff ?? putOff)
        guard let status else { return unowned(at: now) }
        lastOwned = now
        let concerned = status.lanes.filter { awaited.lanes.contains($0.key) }
        let stopped = concerned.filter { if case .stopped = $0.state { true } else { false } }
        stoppedAt = !stopped.isEmpty && stopped.count == concerned.count ? stoppedAt ?? now : nil
        if let lane = stopped.first, let stoppedAt, now - stoppedAt >= Self.stopLimit,
            let reason = lane.state.standsStillBecause
        {
            return Finding(error: ToolError(.configuration, "nothing more can be sent: lane \(lane.key): \(reason)"))
        }
        let routes = status.routes.filter { route in concerned.contains { $0.key.route == route.name } }
        let trouble = Self.trouble(of: concerned, routes) ?? Self.trouble(of: awaited.topics, routes)
        guard let trouble = trouble ?? putOff.map({ "put off, to be tried again: \($0.rawValue)" }) else {
            wellAt = now
            return Finding()
        }
        let since = wellAt ?? now
        wellAt = since
        guard let giveUpAfter, now - since >= giveUpAfter else { return Finding(trouble: trouble) }
        return Finding(
            trouble: trouble,
            error: ToolError(.entriesLeft, "gave up after \(Format.duration(now - since)): \(trouble)"))
    }

    private mutating func unowned(at now: Duration) -> Finding {
        let since = lastOwned ?? now
        lastOwned = since
        let trouble = "the process that used the journal has ended"
        guard now - since >= Self.ownerLimit else { return Finding(trouble: trouble) }
        return Finding(trouble: trouble, error: ToolError(.entriesLeft, "\(trouble), and no other has come"))
    }

    private static func trouble(of lanes: [DeskStatus.Lane], _ routes: [DeskStatus.Route]) -> String? {
        for lane in lanes {
            guard let reason = lane.state.standsStillBecause else { continue }
            return "lane \(lane.key) stands still: \(reason)"
        }
        for route in routes {
            if route.isAway { return route.connection }
            if let holding = route.holding { return holding }
        }
        return nil
    }

    private static func trouble(of topics: Set<String>, _ routes: [DeskStatus.Route]) -> String? {
        for route in routes {
            guard let topic = route.topics.first(where: { topics.contains($0.topic) }) else { continue }
            return "topic \(topic.topic.printable(maximumLength: 256)) is set aside on route \(route.name): "
                + topic.reason.printable(maximumLength: 512)
        }
        return nil
    }
}
