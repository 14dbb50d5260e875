internal import Holdfast

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

    /// How long the service may be away, or a lane be paused, in one piece; nil for ever.
    let giveUpAfter: Duration?
    private var lastOwned: Duration?
    private var wellAt: Duration?

    init(giveUpAfter: Duration?) { self.giveUpAfter = giveUpAfter }

    /// - Parameters:
    ///   - status: nil when nobody serves the journal.
    ///   - lanes: those of the entries that are waited for.
    mutating func look(_ status: DeskStatus?, lanes: Set<LaneKey>, at now: Duration) -> Finding {
        guard let status else { return unowned(at: now) }
        lastOwned = now
        let concerned = status.lanes.filter { lanes.contains($0.key) }
        let stopped = concerned.filter { if case .stopped = $0.state { true } else { false } }
        if let lane = stopped.first, stopped.count == concerned.count, let reason = lane.state.standsStillBecause {
            return Finding(error: ToolError(.configuration, "nothing more can be sent: lane \(lane.key): \(reason)"))
        }
        guard let trouble = Self.trouble(of: concerned, status.routes) else {
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
        for route in routes where lanes.contains(where: { $0.key.route == route.name }) {
            if route.isAway { return route.connection }
            if let holding = route.holding { return holding }
        }
        return nil
    }
}
