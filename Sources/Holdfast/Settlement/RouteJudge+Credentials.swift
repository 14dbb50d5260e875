/// Refusals of the credentials, which may be about the credentials, an entry or a topic.
extension RouteJudge {
    /// Weighs what the service says of a connection as a whole: its end is all that follows from a refusal of credentials
    /// that are good.
    func weigh(word result: SendResult, into plan: inout SettlementPlan, now: Duration) -> SendResult {
        guard result.verdict == .laneStopped(.credentials),
            !convictsCredentials(result, of: nil, topic: TopicBreakers.none, into: &plan, now: now)
        else {
            return result
        }
        var result = result
        result.verdict = .neverProcessed(.newConnection)
        return result
    }

    /// Half of the configured pause at least, so that an entry which alone is refused does not go in a hot loop.
    var doubtfulPause: Duration {
        let pause = configuration.credentials.pause
        let doublings = min(max(credentialTrial.refusalsOfOne - 1, 0), 20)
        return min(pause * (1 << doublings), max(configuration.retry.maximum, pause)) * (0.5 + jitter.unit() / 2)
    }

    /// The service takes what goes with the credentials: what was stopped for them runs again, or is not stopped at all.
    func credentialsWork(_ plan: inout SettlementPlan, now: Duration) {
        credentialTrial.confirmed(now: now)
        if !plan.stops.isEmpty { plan.stops.removeAll { $0.cause == .credentials } }
        if lanes.contains(where: { $0.machine.remedy == .credentials }) {
            plan.laneChanges += lanes.resume(stoppedFor: [.credentials])
        }
    }

    /// The answer, as one about the topic where the credentials are refused for this topic, and taken for others.
    func aboutItsTopic(_ result: SendResult, _ flight: SentWindow.Flight, now: Duration) -> SendResult {
        guard result.verdict == .laneStopped(.credentials),
            credentialTopics.refused(flight.topic, now: now) == .topic
        else {
            return result
        }
        var result = result
        result.verdict = .laneStopped(.topic)
        result.detail = result.detail ?? "for this topic alone: with the same credentials it takes others"
        return result
    }

    func convictsCredentials(
        _ result: SendResult, of uid: UID?, topic: UInt32, into plan: inout SettlementPlan, now: Duration
    ) -> Bool {
        if credentialTopics.finding(topic) != .doubtful, credentialTrial.refused(uid, now: now) {
            credentialTopics.convicted()
            return true
        }
        plan.news.append(.credentialsDoubted(SettlementPlan.describe(result)))
        return false
    }
}
