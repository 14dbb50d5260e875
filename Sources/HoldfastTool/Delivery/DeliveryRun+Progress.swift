internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Finds what keeps a run from ending although its connections are well.
extension DeliveryRun {
    func sight(_ status: EngineStatus, _ report: Monitor<FeedReport>) -> ProgressWatch.Sight {
        let taken = report.withLock(\.self)
        return ProgressWatch.Sight(
            settled: status.settled, deferrals: status.deferrals, unconfirmed: status.unconfirmed,
            inFlight: status.inFlight, isHeld: !taken.finished || !pausedLanes.isEmpty,
            waitsForRoom: taken.waitsForRoom != nil)
    }

    /// The cause of a standstill in which no connection is in trouble.
    func standstill(_ status: EngineStatus, _ report: Monitor<FeedReport>) -> String {
        guard let refusal = report.withLock(\.waitsForRoom) else { return standstill(status) }
        let paused = pausedLanes.map(\.description).joined(separator: ", ")
        guard paused.isEmpty else {
            return "\(refusal), and what would make room is paused by an operator: \(paused)"
        }
        return "\(refusal), and nothing makes room: \(standstill(status))"
    }

    private func standstill(_ status: EngineStatus) -> String {
        if let (route, parking) = status.parked.min(by: { $0.key < $1.key }) { return "route \(route) is \(parking)" }
        if let throttle = status.throttled.min(by: { $0.key < $1.key })?.value { return throttle.description }
        let left = Format.plural(status.unconfirmed, "notification")
        return "\(left) left, put off and tried again in vain: `holdfast journal list --state deferred` says why"
    }

    /// Why the run should end, when nothing has come to its end for so long.
    func gaveUp(_ stalled: Duration?, _ trouble: String) -> ToolError? {
        guard let stalled, let limit = options.giveUpAfter, stalled >= limit else { return nil }
        return ToolError(.entriesLeft, "gave up after \(Format.duration(stalled)): \(trouble)")
    }

    /// The topics that all that is left waits for; nil when something of it waits for something else.
    func topicsWaitedFor() -> [TopicForm]? {
        let status = engine.status()
        guard status.lanes.allSatisfy({ $0.backlog == 0 || $0.stoppedBecause == nil }) else { return nil }
        let topics = status.topicsSetAside.sorted { $0.key < $1.key }.flatMap { route, topics in
            topics.map { topic in
                var form = TopicForm(topic, route: route)
                form.nextProbe = nil
                return form
            }
        }
        return topics.isEmpty ? nil : topics
    }
}
