extension RouteNews {
    /// The event that applications hear of; nil for news that only logs and figures tell.
    func event(route: String) -> EngineEvent? {
        switch self {
        case .connected: .connected(route: route)
        case .disconnected(_, endpoint: _, let cause, isExpected: _): .disconnected(route: route, cause: cause)
        case .laneChanged(let lane, .running): .laneResumed(lane)
        case .laneChanged(let lane, .paused): .lanePaused(lane)
        case .laneChanged(let lane, .stopped(let reason, since: _)): .laneStopped(lane, reason: reason)
        case .topicSetAside(let topic, let reason, kind: _): .topicSetAside(route: route, topic: topic, reason: reason)
        case .topicBack(let topic): .topicBack(route: route, topic: topic)
        case .endsConnections(let lane, let uid, let ends, let next, wait: _):
            .endsConnections(lane, uid, connections: ends, nextTrial: next)
        case .holding(let reason?): .holding(route: route, reason)
        case .holding(nil): .handingOut(route: route)
        case .cleared(let lane, let count, let through, let basis):
            .cleared(lane, count: count, through: through, by: basis)
        case .lateError(let recalled, let lost): .lateError(route: route, recalled: recalled, lost: lost)
        case .convicted(let lane, let count): .convicted(lane, count: count)
        case .moved(let lane, let count): .movedToOtherEnvironment(lane, count: count)
        case .quarantined(let lane, let uid, let fault): .quarantined(lane, uid, fault)
        case .clock(.warning(let message)): .clockDistrusted(message)
        case .identified(let uid, let uniqueID): .identified(route: route, uid, uniqueID: uniqueID)
        case .started, .shuttingDown, .parked, .throttled, .throttleEnded, .clock(.unproven), .report, .connecting,
            .connectFailed, .endsSilent, .unconnected, .barrierWritten, .barrierUnanswered, .endUnproven, .careful,
            .laneProbed, .markMoved, .promoted, .unreachable, .handedOut, .settling, .settled, .withdrawn,
            .impossibleIdentifier,
            .secondHandOut, .credentialsDoubted, .blacklistUnreadable, .trimmed, .failed, .oldestUnread,
            .journalLost, .journalUnreadable, .foreignAnswer:
            nil
        }
    }
}
