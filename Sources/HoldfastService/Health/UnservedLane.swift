internal import Holdfast

/// A lane that holds something and that no route serves: it is left alone. The names of its properties are those of the JSON.
struct UnservedLane: Encodable, Equatable {
    var lane: String
    var unconfirmed: Int

    /// - Parameter routes: the names of those that are there.
    static func find(in status: JournalStatus, routes: [String]) -> [UnservedLane] {
        lanes(of: status, routes: routes)
            .map { UnservedLane(lane: $0.key.description, unconfirmed: $0.unconfirmed) }
    }

    /// The same, with all that is known of them.
    static func lanes(of status: JournalStatus, routes: [String]) -> [JournalStatus.Lane] {
        status.lanes.filter { $0.unconfirmed > 0 && !routes.contains($0.key.route) }
    }
}

extension DeliverySummary.Route {
    init(_ route: Route, _ status: EngineStatus) {
        let lanes = status.lanes.filter { $0.key.route == route.name && $0.backlog > 0 }
        self.init(
            route: route.name, endpoint: route.connector.endpoint, left: lanes.reduce(0) { $0 + $1.backlog },
            trouble: lanes.lazy.compactMap(\.stoppedBecause).first)
        if case .waiting(let error)? = status.connections[route.name], trouble == nil { trouble = error.message }
    }
}
