internal import Holdfast
internal import HoldfastService

/// Judges how the connections do: what to say, and when to give up. A pure machine; time is told to it.
struct ConnectionWatcher {
    struct Finding: Equatable {
        /// Why nothing is sent at the moment, at least on one route.
        var trouble: String?
        /// The news, a line for each route.
        var news: [String] = []
        /// Why the run should end.
        var error: ToolError?
    }

    fileprivate struct RouteState {
        /// When all was well last.
        var wellAt: Duration?
        var lastNews: String?
        var trouble: String?
        var away: Duration = .zero
        /// Trying again can't help.
        var mustBeMended = false
    }

    private let giveUpAfter: Duration?
    private var routes: [String: RouteState] = [:]

    init(giveUpAfter: Duration?) { self.giveUpAfter = giveUpAfter }

    /// - Parameters:
    ///   - connections: by name of the route.
    ///   - needed: routes that have something to send, or may yet get it: when there is no hope for any of them, the run
    ///     should end. Without any, all count.
    mutating func look(
        _ connections: [String: EngineStatus.ConnectionState], needed: Set<String> = [], at now: Duration
    ) -> Finding {
        var finding = Finding()
        for (name, state) in connections {
            guard let news = routes[name, default: RouteState()].look(state, at: now) else { continue }
            finding.news.append(connections.count > 1 ? "route \(name): \(news)" : news)
        }
        finding.news.sort()
        let names = connections.keys.filter { needed.isEmpty || needed.contains($0) }.sorted()
        let states = names.compactMap { name in routes[name].map { (name, $0) } }
        finding.trouble = states.lazy.compactMap(\.1.trouble).first
        guard !states.isEmpty, states.allSatisfy({ isHopeless($0.1) }) else { return finding }
        finding.error = error(of: states, isNamed: connections.count > 1)
        return finding
    }

    private func isHopeless(_ state: RouteState) -> Bool {
        guard state.trouble != nil else { return false }
        return state.mustBeMended || giveUpAfter.map { state.away >= $0 } ?? false
    }

    private func error(of states: [(name: String, RouteState)], isNamed: Bool) -> ToolError? {
        func told(_ name: String, _ words: String) -> String { isNamed ? "route \(name): \(words)" : words }
        if let (name, broken) = states.first(where: \.1.mustBeMended) {
            return ToolError(.configuration, told(name, "nothing more can be sent: \(broken.trouble ?? "")"))
        }
        guard let (name, away) = states.max(by: { $0.1.away < $1.1.away }) else { return nil }
        let words = "gave up after \(Format.duration(away.away)): \(away.lastNews ?? away.trouble ?? "no connection")"
        return ToolError(.entriesLeft, told(name, words))
    }
}

extension ConnectionWatcher.RouteState {
    /// - Returns: what is worth a line.
    fileprivate mutating func look(_ state: EngineStatus.ConnectionState, at now: Duration) -> String? {
        mustBeMended = false
        switch state {
        case .waiting(let error):
            trouble = error.message
            mustBeMended = error.kind == .configuration
        case .connecting, .connected, .idle:
            (trouble, lastNews) = (nil, nil)
        }
        guard let trouble else {
            (wellAt, away) = (now, .zero)
            return nil
        }
        away = now - (wellAt ?? now)
        if wellAt == nil { wellAt = now }
        guard trouble != lastNews else { return nil }
        lastNews = trouble
        return trouble
    }
}
