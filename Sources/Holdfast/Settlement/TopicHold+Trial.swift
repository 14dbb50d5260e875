/// Topics that wait to show how others fare: see ``TopicSilence`` and ``TopicRefusals``.
extension TopicHold {
    /// So often the pauses double meanwhile.
    static let trialDoublings = 2
    /// So many probes that have failed make the pauses longer, meanwhile, where a probe may cost a connection.
    static let greatestTrial = 5
    /// So long others may go, and be taken, before it is told that the topic waits.
    static let untold = Duration.seconds(15)

    /// Whether entries may wait for a topic of which nobody is told: one on trial, or one that the service takes again.
    var hidesEntries: Bool {
        held.values.contains { entry in
            if case .returning = entry.state { return !entry.places.isEmpty }
            return entry.isOnTrial
        }
    }

    /// The topic waits, and others go. Nobody is told before it is clear that it is not the service.
    mutating func tryOthers(
        than topic: String, cause: Cause, words: String, _ schedule: ProbeSchedule, atLeast least: Duration = .zero,
        at now: Moment, random: Double
    ) {
        switch held[topic]?.state {
        case nil:
            _ = setAside(
                topic, lane: 0, cause: cause, words: words, spare: 0, schedule, atLeast: least, at: now, random: random)
        case .returning?:
            held[topic]?.cause = cause
            held[topic]?.words = words
            held[topic]?.since = now.wall
            wait(topic, schedule, atLeast: least, at: now, random: random)
        case .waiting?, .ready?, .out?: return
        }
        held[topic]?.isOnTrial = true
        held[topic]?.triedSince = now.monotonic
        held[topic]?.isTold = false
    }

    /// The topics on trial for refusals, none of them being tried just now.
    var refusedOnTrial: [String] {
        let onTrial = held.filter { $0.value.isOnTrial && $0.value.cause == .refusals }
        return onTrial.contains { outs.values.contains($0.key) } ? [] : onTrial.keys.sorted()
    }

    /// Something of a topic that goes was taken.
    mutating func othersTaken(now: Duration) { takenAt = now }

    /// When it is to be told that a topic on trial waits; nil when it is, or nothing of others was taken yet.
    func toldAt(_ entry: Held) -> Duration? {
        guard entry.isOnTrial, !entry.isTold, let takenAt, takenAt > entry.triedSince else { return nil }
        return entry.triedSince + Self.untold
    }

    /// The probe of a topic was refused, and it is not known yet whether it is the topic or the service. Another entry is tried
    /// after a pause, and soon, so that it becomes known.
    ///
    /// - Returns: where the entry waits, behind those that were not tried; nil for one that is no probe.
    mutating func failed(
        lane: Int, _ uid: UID, _ schedule: ProbeSchedule, atLeast least: Duration, at now: Moment, random: Double
    ) -> WallTime? {
        guard let topic = outs[Flight(lane: lane, uid: uid)], let entry = held[topic] else { return nil }
        held[topic]?.failures = min(entry.failures + 1, Self.trialDoublings)
        wait(topic, schedule, atLeast: least, at: now, random: random)
        return due(entry, lane, hasFailed: true)
    }

    /// The service answers others, and not this one.
    ///
    /// - Returns: whether that is news.
    mutating func convict(
        _ topic: String, words: String, _ schedule: ProbeSchedule, at now: Moment, random: Double
    ) -> Bool {
        guard let entry = held[topic] else {
            return setAside(
                topic, lane: 0, cause: .silence, words: words, spare: 0, schedule, at: now, random: random
            ).isNews
        }
        // It may be refused, too: that is known for sure.
        guard entry.cause == .silence else { return false }
        held[topic]?.words = words
        var isReturning = false
        if case .returning = entry.state { isReturning = true }
        guard entry.isOnTrial || isReturning else { return false }
        held[topic]?.isOnTrial = false
        if isReturning { held[topic]?.since = now.wall }
        if isReturning { wait(topic, schedule, at: now, random: random) }
        return true
    }

    /// It was not the topic, or it was slow and not silent: what waits goes again. One that is refused, too, goes on waiting.
    mutating func acquit(_ topic: String) {
        guard let entry = held[topic], entry.isOnTrial, entry.cause == .silence else { return }
        if case .out(let flight, _, _) = entry.state { outs[flight] = nil }
        held[topic]?.state = .returning
        held[topic]?.nextProbeAt = nil
        forgetIfIdle(topic)
    }
}
