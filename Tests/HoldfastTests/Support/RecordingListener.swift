@testable import Holdfast

/// A listener that writes down each call as a line.
final class RecordingListener: MetricsListener {
    private struct State: Sendable {
        var calls: [String] = []
        var levels: [RouteLevels] = []
        var commits: [CommitMeasure] = []
        var deliveries: [Latencies] = []
    }

    private let state = Monitor(State())

    /// All but commits and measurements, in order.
    var calls: [String] { state.withLock(\.calls) }
    var levels: [RouteLevels] { state.withLock(\.levels) }
    var commits: [CommitMeasure] { state.withLock(\.commits) }
    var deliveries: [Latencies] { state.withLock(\.deliveries) }

    func forget() { state.withLock { $0 = State() } }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    func accepted(_ count: Int) { note("accepted \(count)") }
    func refused(_ count: Int, reason: Reason) { note("refused \(count) \(reason)") }
    func sent(_ count: Int, possibleDuplicates: Int, route: String) {
        note("sent \(count), \(possibleDuplicates) again")
    }
    func answered(_ times: Latencies, route: String) {
        note("answered \(times.count) in \(times.total), \(times.greatest) at most")
    }
    func delivered(_ times: Latencies, route: String) {
        state.withLock { $0.deliveries.append(times) }
    }
    func stopped(because kind: HealthCondition.Kind, route: String) { note("stopped: \(kind)") }
    func confirmed(_ count: Int, by basis: ConfirmationBasis, route: String) { note("confirmed \(count) by \(basis)") }
    func rejected(_ count: Int, reason: Reason, route: String) { note("rejected \(count) \(reason)") }
    func expired(_ count: Int, route: String) { note("expired \(count)") }
    func unknown(_ count: Int, route: String) { note("unknown \(count)") }
    func withdrawn(_ count: Int, route: String) { note("withdrawn \(count)") }
    func deferred(_ count: Int, route: String) { note("deferred \(count)") }
    func requeued(_ count: Int, route: String) { note("requeued \(count)") }
    func recalled(_ count: Int, route: String) { note("recalled \(count)") }
    func wronglyConfirmed(_ count: Int, route: String) { note("wronglyConfirmed \(count)") }
    func connectionOpened(route: String) { note("opened") }
    func connectionFailed(_ error: ConnectError, route: String) { note("failed: \(error)") }
    func connectionClosed(cause: String?, route: String) { note("closed: \(cause ?? "asked")") }
    func committed(_ commit: CommitMeasure) { state.withLock { $0.commits.append(commit) } }
    func laneStateChanged(_ lane: LaneKey, to state: LaneState) {
        note("\(lane): \(state.standsStillBecause ?? "running")")
    }
    func holdChanged(_ hold: HoldReason?, route: String) { note("hold: \(hold?.description ?? "none")") }
    func measured(_ levels: RouteLevels) { state.withLock { $0.levels.append(levels) } }
}
