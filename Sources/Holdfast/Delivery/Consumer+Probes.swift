internal import Logging

/// Lanes that stopped by themselves try again: one entry at a time on a route, after growing pauses.
extension Consumer {
    /// The lane has stopped by itself. A stop that a connection ends needs no probe: connecting is the probe.
    func beginProbing(_ index: Int) {
        guard lanes[index].isStopped, lanes[index].remedy != .connection else { return }
        probes[index].begin(
            configuration.probes, now: clock.monotonic(), wall: clock.wall(), random: randomUnit())
    }

    /// Lets lanes whose probe is due hand out one entry, and takes that back from all others.
    func runProbes(now: Duration, wall: WallTime) {
        for index in lanes.indices where lanes[index].isStopped && lanes[index].remedy != .connection {
            let isDue = probes[index].look(configuration.probes, now: now, wall: wall, random: randomUnit())
            lanes[index].mayProbe = isDue && !hasProbeOut
        }
    }

    /// Whether some lane's probe is with a connection.
    var hasProbeOut: Bool { probes.contains(where: \.isOut) }

    /// The first of these goes out as the probe of its stopped lane.
    func noteProbe(_ entries: EntryBatch, of index: Int, on connection: Int, now: Duration) {
        guard lanes[index].mayProbe, let first = entries.items.first else { return }
        probes[index].handedOut(first.uid, on: connection, configuration.probes, now: now)
        for lane in lanes.indices { lanes[lane].mayProbe = false }
        log(
            .laneProbed, "the stopped lane \(lanes[index].key) tries entry \(first.uid)",
            ["lane": .lane(lanes[index].key), "uid": .stringConvertible(first.uid)])
    }

    // MARK: Answers

    /// Decides about one answer. It may be a probe's, and it may refuse credentials that are good.
    func decide(
        about flight: SentWindow.Flight, ticket: Ticket, by result: SendResult, into plan: inout SettlementPlan,
        now: Duration, wall: WallTime
    ) {
        let lane = lanes[flight.lane].id
        topicAnswered(flight, result.verdict, now: now, wall: wall)
        let wasRefused = lanes[flight.lane].remedy == .credentials
        let isDoubted =
            result.verdict == .laneStopped(.credentials)
            && !convictsCredentials(result, of: flight.uid, topic: flight.topic, now: now)
        if probeAnswered(flight, result.verdict, now: now, wall: wall) == .failed, wasRefused {
            // Behind all others of the lane, which may fare better: this one may be refused for its own sake.
            return plan.wait(
                flight, ticket: ticket, lane: lane, until: wall, reason: result.reason ?? .neverProcessed)
        }
        if isDoubted, !wasRefused {
            plan.wait(
                flight, ticket: ticket, lane: lane, until: wall.advanced(by: doubtfulPause),
                reason: result.reason ?? .neverProcessed)
            plan.counts.deferred += 1
            return
        }
        plan.add(
            result, for: flight, ticket: ticket, lane: lane, retry: configuration.retry, wall: wall,
            random: { self.randomUnit() })
    }

    /// Weighs what the service says of a connection as a whole: its end is all that follows from a refusal of credentials
    /// that are good.
    func weigh(word result: SendResult, now: Duration) -> SendResult {
        guard result.verdict == .laneStopped(.credentials),
            !convictsCredentials(result, of: nil, topic: TopicBreakers.none, now: now)
        else {
            return result
        }
        var result = result
        result.verdict = .neverProcessed(.newConnection)
        return result
    }

    /// Half of the configured pause at least, so that an entry which alone is refused does not go in a hot loop.
    private var doubtfulPause: Duration {
        let pause = configuration.credentials.pause
        let doublings = min(max(credentialTrial.refusalsOfOne - 1, 0), 20)
        return min(pause * (1 << doublings), max(configuration.retry.maximum, pause)) * (0.5 + randomUnit() / 2)
    }

    /// The service takes what goes with the credentials: what was stopped for them runs again, or is not stopped at all.
    func credentialsWork(_ plan: inout SettlementPlan, now: Duration) {
        credentialTrial.confirmed(now: now)
        if !plan.stops.isEmpty { plan.stops.removeAll { $0.cause == .credentials } }
        if lanes.contains(where: { $0.remedy == .credentials }) { resumeLanes(stoppedFor: [.credentials]) }
    }

    /// The answer, as one about the topic where the credentials are refused for this topic, and taken for others.
    func aboutItsTopic(_ result: SendResult, _ flight: SentWindow.Flight) -> SendResult {
        guard result.verdict == .laneStopped(.credentials), credentialTopics.refused(flight.topic) == .topic else {
            return result
        }
        var result = result
        result.verdict = .laneStopped(.topic)
        result.detail = result.detail ?? "for this topic alone: with the same credentials it takes others"
        return result
    }

    private func convictsCredentials(_ result: SendResult, of uid: UID?, topic: UInt32, now: Duration) -> Bool {
        if credentialTopics.finding(topic) != .doubtful, credentialTrial.refused(uid, now: now) {
            credentialTopics.convicted()
            return true
        }
        log(
            .credentialsDoubted,
            "the service refuses credentials with which it takes other notifications; this one goes again later: "
                + SettlementPlan.describe(result))
        return false
    }

    /// An entry was answered, and may have been a probe.
    ///
    /// - Returns: what its answer says of the cause of the stop; nil for one that is no probe.
    @discardableResult
    func probeAnswered(
        _ flight: SentWindow.Flight, _ verdict: SendResult.Verdict, now: Duration, wall: WallTime
    ) -> LaneProbe.Finding? {
        guard probes[flight.lane].isProbe(flight.uid) else { return nil }
        let finding = finding(verdict)
        conclude(finding, lane: flight.lane, now: now, wall: wall)
        return finding
    }

    /// Runs of entries were confirmed without a word of their own.
    func probesConfirmed(_ runs: [CumulativeWindow.Run], now: Duration) {
        guard hasProbeOut || topicHold.hasProbeOut else { return }
        for run in runs {
            if probes[run.lane].isProbe(in: run.uids) {
                conclude(.passed, lane: run.lane, now: now, wall: clock.wall())
            }
            for topic in topicHold.taken(lane: run.lane, run.uids) { tellBack(topic) }
        }
    }

    /// The connection has ended; a probe that it had brings nothing.
    func loseProbes(of connection: Int, now: Duration, wall: WallTime) {
        topicHold.lost(connection: connection, configuration.probes, now: now, wall: wall, random: randomUnit())
        for index in lanes.indices where probes[index].isOut(on: connection) {
            conclude(.inconclusive, lane: index, now: now, wall: wall)
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

    func conclude(_ finding: LaneProbe.Finding, lane index: Int, now: Duration, wall: WallTime) {
        guard finding == .passed else {
            probes[index].conclude(finding, configuration.probes, now: now, wall: wall, random: randomUnit())
            return
        }
        // What was wrong with the credentials, or with who answers, was wrong for all lanes of the route, and those without
        // an entry have nothing to try it with.
        if let remedy = lanes[index].remedy { resumeLanes(stoppedFor: [remedy]) } else { resumeLane(index) }
    }

    /// Whether a lane that stopped just now will try an entry before anybody should be told that nothing more goes.
    func isYetToBeProbed(_ index: Int) -> Bool {
        guard lanes[index].isStopped, lanes[index].remedy != .connection, !pool.isAway else { return false }
        let alike = probes.indices.filter { lanes[$0].remedy == lanes[index].remedy }
        guard alike.contains(where: { probes[$0].hasTried }) else { return true }
        guard lanes[index].remedy == .credentials, !credentialTrial.refusesSeveral else { return false }
        // One entry was refused, which may be about that entry. Where others can't be tried, this one has to tell.
        let left = alike.reduce(0) { $0 + journal.depth(lanes[$1].id) }
        return left > 1 && alike.allSatisfy { probes[$0].failures < Self.tellingProbes }
    }

    /// So many failed probes tell, although all of them were of one entry.
    private static let tellingProbes = 3

    /// When to come back for a probe.
    var probeWakes: [Duration] { probes.compactMap(\.wake) }
}
