/// How many entries wait for topics that are set aside, and how many for the throttle of a route and for nothing else.
extension [HealthCondition] {
    /// - Parameters:
    ///   - topics: those that are set aside, by route, with what waits for each.
    ///   - lanes: of the journal.
    func counted(topics: [String: [EngineStatus.Topic]], lanes: [DeskStatus.Lane]) -> [HealthCondition] {
        map { condition in
            guard let route = condition.route else { return condition }
            let own = topics[route] ?? []
            var counted = condition
            switch condition.kind {
            case .topicSetAside, .massBadTokens:
                counted.affected = own.first { $0.topic == condition.subject }?.waiting ?? condition.affected
            case .throttled:
                let waiting = lanes.reduce(0) { $0 + ($1.key.route == route ? $1.waitingForItsTurn : 0) }
                counted.affected = Swift.max(waiting - own.reduce(0) { $0 + ($1.waiting ?? 0) }, 0)
            default: break
            }
            return counted
        }
    }
}

extension DeskStatus.Lane {
    /// Entries that wait neither for their own time, nor for a paused tag, nor for the lane.
    fileprivate var waitingForItsTurn: Int {
        if case .paused = state { 0 } else { max(unconfirmed - scheduled - heldByTag, 0) }
    }
}
