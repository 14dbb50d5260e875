internal import Synchronization

/// What a process knows of the servers of its connection string: on which timelines they are, and with which of them sessions
/// live. Sessions with an old primary are refused: see ``PQTarget/connect(_:by:_:)``.
package final class PQServers: Sendable {
    /// A session that has answered within this time shows that its server lives. Owners of journals ask every two seconds.
    static let memory = Duration.seconds(10)

    private struct Session {
        weak var connection: PQConnection?
        let sight: ServerSight
    }

    private struct State {
        var timelines: ServerTimelines
        var sessions: [Session] = []
        var hasUsed = false
    }

    private let state: Mutex<State>
    private let remember: @Sendable ([String: UInt32]) -> Void
    private let onNews: @Sendable (ServerWarning) -> Void

    /// - Parameters:
    ///   - newest: the newest timeline that was ever seen of each cluster.
    ///   - remember: keeps them for the next process.
    ///   - onNews: called when something is found to be wrong, once each.
    package init(
        newest: [String: UInt32] = [:], remember: @escaping @Sendable ([String: UInt32]) -> Void = { _ in },
        onNews: @escaping @Sendable (ServerWarning) -> Void = { _ in }
    ) {
        state = Mutex(State(timelines: ServerTimelines(newest: newest)))
        (self.remember, self.onNews) = (remember, onNews)
    }

    /// What is wrong now.
    package var warnings: [ServerWarning] { state.withLock { $0.timelines.found } }

    /// Whether no session of this process was used yet.
    var isFresh: Bool { state.withLock { !$0.hasUsed } }

    /// The servers with which sessions live.
    var living: [ServerSight] { state.withLock { Self.living(&$0) } }

    func judge(_ sight: ServerSight) -> ServerTimelines.Verdict {
        state.withLock { state in
            let living = Self.living(&state)
            return state.timelines.judge(sight, living: living)
        }
    }

    /// How long a server is waited for of which a session is left.
    private static let patience = Duration.milliseconds(500)

    /// Whether a session is with a server that is known to be an old primary by now. That is told of a server that answers: after a
    /// failover the sessions with one that is gone are there still.
    package func isPassed(_ connection: PQConnection, by deadline: ContinuousClock.Instant) -> Bool {
        guard let sight = connection.sight.withLock({ $0 }), case .old(let newer) = judge(sight) else { return false }
        do throws(PQError) {
            guard let found = try ServerSight(connection, by: min(deadline, .now + Self.patience)) else { return true }
            if case .old = judge(found) { warn(.refused(found, newer: newer)) }
        } catch {
            // Whoever looks at the servers one by one finds it, if it comes back.
        }
        return true
    }

    func use(_ connection: PQConnection, _ sight: ServerSight) {
        connection.sight.withLock { $0 = sight }
        let newest = state.withLock { state in
            state.hasUsed = true
            state.sessions.append(Session(connection: connection, sight: sight))
            return state.timelines.used(sight) ? state.timelines.newest : nil
        }
        if let newest { remember(newest) }
    }

    func warn(_ warning: ServerWarning) {
        if state.withLock({ $0.timelines.warn(warning) }) { onNews(warning) }
    }

    /// Servers were asked by themselves.
    package func surveyed(_ servers: [SurveyedServer]) {
        for server in servers {
            guard case .primary(let sight) = server.state else {
                state.withLock { $0.timelines.gone(server.place) }
                continue
            }
            guard let sight else { continue }
            let (verdict, used) = state.withLock { state in
                let living = Self.living(&state)
                return (
                    state.timelines.judge(sight, living: living),
                    living.filter { $0.system == sight.system }.max { $0.timeline < $1.timeline }
                )
            }
            switch (verdict, used) {
            case (.old(let newer), _): warn(.refused(sight, newer: newer))
            case (_, let used?) where used.timeline < sight.timeline: warn(.ahead(sight, used: used))
            default: break
            }
        }
    }

    private static func living(_ state: inout State) -> [ServerSight] {
        state.sessions.removeAll { $0.connection?.isOver ?? true }
        return state.sessions.filter { $0.connection?.hasAnswered(within: memory) ?? false }.map(\.sight)
    }
}
