/// Answers to the one entry that a stopped lane tries.
extension RouteJudge {
    /// An entry was answered, and may have been a probe.
    ///
    /// - Returns: what its answer says of the cause of the stop; nil for one that is no probe.
    @discardableResult
    func probeAnswered(
        _ flight: SentWindow.Flight, _ verdict: SendResult.Verdict, into plan: inout SettlementPlan, at now: Moment
    ) -> LaneProbe.Finding? {
        guard lanes[flight.lane].probe.isProbe(flight.uid) else { return nil }
        // Whatever the service itself refuses, it answers.
        let isService = verdict == .laneStopped(.credentials) && lanes[flight.lane].machine.remedy == .service
        let finding = isService ? .passed : finding(verdict)
        conclude(finding, lane: flight.lane, topic: flight.topic, into: &plan, at: now)
        return finding
    }

    /// Runs of entries were confirmed without a word of their own.
    func probesConfirmed(_ runs: [CumulativeWindow.Run], into plan: inout SettlementPlan, at now: Moment) {
        guard lanes.hasProbeOut || topicHold.hasProbeOut else { return }
        for run in runs {
            if lanes[run.lane].probe.isProbe(in: run.uids) {
                conclude(.passed, lane: run.lane, into: &plan, at: now)
            }
            plan.news += topicHold.taken(lane: run.lane, run.uids).map { .topicBack($0) }
        }
    }

    /// The connection has ended; a probe that it had brings nothing.
    func loseProbes(of connection: Int, at now: Moment) {
        topicHold.lost(connection: connection, configuration.probes, at: now, random: jitter.unit())
        loseLaneProbes(of: connection, at: now)
    }

    /// Lanes do not wait for the probes that went out on the connection.
    func loseLaneProbes(of connection: Int, at now: Moment) {
        for index in lanes.indices where lanes[index].probe.isOut(on: connection) {
            lanes[index].probe.conclude(.inconclusive, configuration.probes, at: now, random: jitter.unit())
        }
    }

    private func finding(_ verdict: SendResult.Verdict) -> LaneProbe.Finding {
        switch verdict {
        // Tokens and topics have judges of their own.
        case .confirmed, .rejected(.notification), .rejected(.token), .rejected(.suspectToken), .laneStopped(.topic):
            .passed
        case .laneStopped(.credentials), .foreign: .failed
        case .rejected(.request), .deferred, .neverProcessed, .unknown: .inconclusive
        }
    }

    /// - Parameter topic: of the probe. While there may be others that fare better, the pauses do not grow.
    func conclude(
        _ finding: LaneProbe.Finding, lane index: Int, topic: UInt32 = TopicBreakers.none,
        into plan: inout SettlementPlan, at now: Moment
    ) {
        guard finding == .passed else {
            let isFirst =
                breakers.tellsTopicsApart && (foreignTopics.isFirst(topic) || credentialTopics.isFirst(topic))
            lanes[index].probe.conclude(
                isFirst ? .inconclusive : finding, configuration.probes, at: now, random: jitter.unit())
            return
        }
        // What was wrong with the credentials, or with who answers, was wrong for all lanes of the route, and those without
        // an entry have nothing to try it with.
        plan.laneChanges +=
            lanes[index].machine.remedy.map { lanes.resume(stoppedFor: [$0]) } ?? [lanes.resume(index)]
    }

    // MARK: The choice of an entry

    /// Whether a lane that is stopped, and that this would let run, may be stopped for some topics alone: those that have fared so since
    /// anything fared well.
    func hasStopping(_ remedy: LaneStateMachine.StopRemedy?) -> Bool {
        switch remedy {
        case .credentials?: credentialTopics.hasRefused
        case .service?: foreignTopics.hasForeign
        case .connection?, nil: false
        }
    }

    /// Whether another topic shows sooner whether such a lane may run: this one may be why it is stopped, or is in other trouble.
    func isStopping(_ topic: UInt32, _ remedy: LaneStateMachine.StopRemedy?) -> Bool {
        switch remedy {
        case .credentials?: credentialTopics.hasRefused(topic) || !goesFirst(topic)
        case .service?: !goesFirst(topic)
        case .connection?, nil: false
        }
    }
}
