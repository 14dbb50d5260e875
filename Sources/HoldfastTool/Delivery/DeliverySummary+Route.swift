internal import Holdfast

extension DeliverySummary.Route {
    package init(_ route: Route, _ status: EngineStatus) {
        let lanes = status.lanes.filter { $0.key.route == route.name && $0.backlog > 0 }
        self.init(
            route: route.name, endpoint: route.connector.endpoint, left: lanes.reduce(0) { $0 + $1.backlog },
            trouble: lanes.lazy.compactMap(\.stoppedBecause).first)
        if case .waiting(let error)? = status.connections[route.name], trouble == nil { trouble = error.message }
    }
}
