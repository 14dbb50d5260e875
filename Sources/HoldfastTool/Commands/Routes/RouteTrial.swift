internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Has routes try at once, and waits a while for what comes of it: of their connections, and of the probes of what stood still.
enum RouteTrial {
    private static let patience = Duration.seconds(10)
    /// For a lane that runs, and may stop again at once. As many may come as go.
    private static let queuePatience = Duration.seconds(2)
    private static let pause = Duration.milliseconds(100)

    /// A route that was to try. The names of its properties are those of the JSON.
    private struct Row: Encodable {
        var route: String
        var connection: String
        var isAway: Bool
        var refusals: [ProbeWatch.Refusal]
        /// Whether no answer came within the time that is waited.
        var isUnanswered: Bool
        /// Topics of which a notification was tried, and is not answered yet; nil for none.
        var unansweredTopics: [String]?
        /// Whether the service throttles the route, and has taken nothing since it was told to try.
        var isThrottled: Bool

        var status: ToolStatus {
            if !refusals.isEmpty { return .configuration }
            return isAway || isUnanswered || isThrottled ? .entriesLeft : .ok
        }
    }

    /// What was said of each route before it was told to try.
    private struct Watch {
        var failures: Int
        var probes: ProbeWatch

        init(_ route: String, _ before: DeskStatus) {
            failures = RouteTrial.away(route, before)?.failures ?? 0
            probes = ProbeWatch(route: route, before: before)
        }

        /// - Parameter waited: since it was told to try; behind the patience it is told as it is.
        /// - Returns: nil while something may yet come of it.
        func row(_ route: DeskStatus.Route, _ status: DeskStatus, waited: Duration) -> Row? {
            let away = RouteTrial.away(route.name, status)
            let isThrottled = status.conditions?.contains { $0.kind == .throttled && $0.route == route.name } ?? false
            let found = route.isAway ? ProbeWatch.Finding() : probes.look(status, at: EngineClock.system.wall())
            // It has no connection, and is about to make one.
            let isIdle = route.connection == "idle"
            // Once more it has failed, or it has worked.
            let isTried =
                !route.isAway && !isIdle && route.connection != "connecting" || (away?.failures ?? 0) > failures
            let isOpen = found.isOpen && !isThrottled
            let mayMove = (found.isQueued || isThrottled && found.isStill) && waited < queuePatience
            // It takes connections, and has answered nothing for long.
            let isSilent = !route.isAway && away != nil && found.isStill
            guard isTried && !isOpen && !mayMove && !isSilent || waited >= patience else { return nil }
            return Row(
                route: route.name, connection: route.connection, isAway: route.isAway, refusals: found.refusals,
                isUnanswered: isOpen || isSilent || isIdle,
                unansweredTopics: isOpen && !found.openTopics.isEmpty ? found.openTopics : nil,
                isThrottled: isThrottled && found.isStill)
        }
    }

    private static func away(_ route: String, _ status: DeskStatus) -> HealthCondition? {
        status.conditions?.first { $0.kind == .serviceAway && $0.subject == route }
    }

    static func run(_ routes: [String], _ desk: any OperatorDesk, json: Bool) async throws -> ToolStatus {
        let before = try await desk.status()
        var watches = routes.reduce(into: [:]) { $0[$1] = Watch($1, before) }
        for route in routes { try await desk.connect(route: route) }
        let start = ContinuousClock.now
        var result = ToolStatus.ok
        while true {
            let status = try await desk.status()
            let waited = ContinuousClock.now - start
            for route in status.routes {
                guard let row = watches[route.name]?.row(route, status, waited: waited) else { continue }
                watches[route.name] = nil
                result = max(result, row.status)
                try tell(row, json: json)
            }
            guard !watches.isEmpty, waited < patience else { return result }
            try await Task.sleep(for: pause)
        }
    }

    private static func tell(_ row: Row, json: Bool) throws {
        guard !json else { return Console.standard.print(try JSONOutput.line(row)) }
        var lines = ["\(row.route.printable(maximumLength: 64)): \(row.connection.printable(maximumLength: 1000))"]
        lines += row.refusals.map {
            "  \($0.about) \($0.name.printable(maximumLength: 256)) is still refused: \($0.because.printable(maximumLength: 300))"
        }
        if row.isUnanswered {
            lines.append(
                "  nothing was answered within \(Format.duration(patience)): `holdfast status` says how it goes on"
            )
            let topics = row.unansweredTopics ?? []
            lines += topics.prefix(10).map {
                "  topic \($0.printable(maximumLength: 256)) has no answer yet, and waits while others are answered"
            }
            if topics.count > 10 { lines.append("  and \(Format.count(topics.count - 10)) more topics") }
        }
        if row.isThrottled {
            lines.append("  nothing was taken since: the route is throttled still, and goes on by itself")
        }
        for line in lines { Console.standard.print(line) }
    }
}
