/// Knows the topics of a route that the service refuses, and decides when each is tried again.
///
/// The entries of such a topic wait among the deferred, at a due time that never comes: a place of the topic's own, from
/// which they are called back. So a million of them cost nothing while they wait; a probe moves one of them. Each
/// ``TopicPolicy/sweep`` all of them are looked at once, so that those which have expired meet their end.
///
/// A topic has two sides on which its entries wait. Probes come from one, and those that failed go to the other; when
/// nothing is left on the one, the sides change. So each entry is tried in its turn, and none that is bad itself keeps its
/// topic from coming back. Entries whose tokens were called bad before the topic was set aside have had their turn.
///
/// A topic whose tokens are called bad may have many that are bad, ahead of good ones. So after each pause twice as many
/// entries are tried as after the last one, one behind the other, up to ``greatestRun``, until each has been tried once.
///
/// A pure machine: times and random numbers are arguments.
struct TopicHold: Sendable {
    /// The public status of a topic that is set aside.
    typealias Status = EngineStatus.Topic
    typealias Cause = EngineStatus.Topic.Cause

    /// The first instant of the year 9999: due times from here on are places of topics.
    static let firstDue = WallTime(seconds: 253_370_764_800)
    /// Places of a generation, two for each topic.
    static let span: Int64 = 1 << 20
    /// The most probes of a topic between two pauses.
    static let greatestRun = 1000
    /// The most probes that are remembered which came to nothing.
    private static let greatestLost = 1000
    /// So many probes of a topic that the service refuses tell, although others wait.
    static let tellingProbes = 3
    /// So long after a probe its entry is on disk again, where there is one.
    static let settled = Duration.seconds(5)
    /// So many pauses tell of a topic whose tokens are called bad. After the last of them 128 entries were tried, and 255
    /// in all.
    static let tellingRuns = 8

    var policy: TopicPolicy
    var held: [String: Held] = [:]
    var slots: [Int: String] = [:]
    var outs: [Flight: String] = [:]
    /// Probes that came to nothing, until they wait again: behind the others, or one that is never processed would be its topic's
    /// probe for ever.
    private var lost: Set<Flight> = []
    var lanes: [Lane]
    /// Whether no probe goes, since others need what it might cost them, and whether none does that may cost them the connection: of
    /// a topic that is silent, or refused for now.
    var (yields, yieldsConnection) = (false, false)
    /// When probes go again that connections are too scarce for.
    var yieldsUntil: WallTime?

    /// When something of a topic that goes was taken last.
    var takenAt: Duration?

    init(policy: TopicPolicy, lanes: Int, now: Duration) {
        self.policy = policy
        self.lanes = Array(repeating: Lane(sweptAt: now), count: lanes)
    }

    /// Whether every topic goes.
    var isEmpty: Bool { held.isEmpty }

    /// Whether a probe is with a connection.
    var hasProbeOut: Bool { !outs.isEmpty }

    // MARK: Entries

    /// Whether an entry of the topic may go out on this connection; if so, and the topic waits for a probe, it is the probe.
    mutating func check(_ topic: String, lane: Int, uid: UID, connection: Int, now: Duration, limit: Duration) -> Check
    {
        guard let entry = held[topic] else { return .goes }
        let flight = Flight(lane: lane, uid: uid)
        switch entry.state {
        case .returning: return .goes
        case .out: return waits(entry, flight)
        // What a sweep brings back is nothing new.
        case .waiting where entry.spare == 0 || lanes[lane].sweeps > 0: return waits(entry, flight)
        case .waiting where doesYield(entry), .ready where doesYield(entry): return waits(entry, flight)
        case .waiting, .ready:
            if case .waiting = entry.state { held[topic]?.spare -= 1 }
            held[topic]?.state = .out(flight, connection: connection, deadline: now + limit)
            held[topic]?.nextProbeAt = nil
            outs[flight] = topic
            return .goes
        }
    }

    private mutating func waits(_ entry: Held, _ flight: Flight) -> Check {
        .waits(until: due(entry, flight.lane, hasFailed: lost.remove(flight) != nil))
    }

    /// Whether what is refused for this cause need not be judged any more: the topic waits, or is being tried.
    func isSetAside(_ topic: String) -> Bool {
        switch held[topic]?.state {
        case nil, .returning?: false
        case .waiting?, .ready?, .out?: true
        }
    }

    /// Whether the topic is set aside because the service calls its tokens bad.
    func isSetAsideForTokens(_ topic: String) -> Bool { isSetAside(topic) && held[topic]?.cause == .tokens }

    /// Whether the topic's next entry does not go.
    func keeps(_ topic: String) -> Bool {
        guard let entry = held[topic] else { return false }
        return switch entry.state {
        case .returning: false
        case .ready: doesYield(entry)
        case .waiting: doesYield(entry) || entry.spare == 0
        case .out: true
        }
    }

    /// Whether the topic's probe lets others go first.
    func doesYield(_ entry: Held) -> Bool {
        switch entry.cause {
        case .silence, .refusals: yields || yieldsConnection
        case .topic, .tokens, .server: yields
        }
    }

    /// Whether it is told that the topic is set aside for this cause.
    func isSetAside(_ topic: String, for cause: Cause) -> Bool {
        isSetAside(topic) && held[topic]?.cause == cause && held[topic].map { !$0.isOnTrial || $0.isTold } ?? false
    }

    /// Whether so many probes of a silent topic were in vain that it may be some of its entries. While its next probe is to go, none
    /// of them takes its connection.
    func mayBeEntries(_ topic: String) -> Bool {
        guard let entry = held[topic], case .waiting = entry.state else { return false }
        return entry.cause == .silence && entry.failures >= Self.greatestTrial
    }

    /// Whether nothing but their age ends the topic's entries, where the service goes on as it does.
    func endsByAge(_ topic: String) -> Bool {
        switch held[topic]?.cause {
        case .tokens?, .refusals?: isSetAside(topic)
        case .topic?, .silence?, .server?, nil: false
        }
    }

    /// The service has refused an entry for its topic, or called its token bad.
    ///
    /// - Parameters:
    ///   - words: why, for people; nil for what is known already.
    ///   - spare: how many more entries go out without a pause.
    ///   - least: the shortest pause.
    mutating func refused(
        _ topic: String, lane: Int, uid: UID, cause: Cause = .topic, words: String?, spare: Int = 0,
        _ schedule: ProbeSchedule, atLeast least: Duration = .zero, at now: Moment, random: Double
    ) -> Refusal {
        guard var entry = held[topic] else {
            return setAside(
                topic, lane: lane, cause: cause, words: words ?? "", spare: spare, schedule, atLeast: least, at: now,
                random: random)
        }
        let isProbe = outs[Flight(lane: lane, uid: uid)] == topic
        var isNews = entry.isOnTrial
        if case .returning = entry.state { (isNews, entry.since) = (true, now.wall) }
        if let words { (entry.words, entry.cause) = (words, cause) }
        (entry.refusedAt, entry.isOnTrial) = (now.monotonic, false)
        held[topic] = entry
        // Others that went out with it before say nothing new.
        if isNews || isProbe {
            if isProbe, entry.cause == .tokens, entry.run > 0 {
                goOn(topic, wall: now.wall)
            } else {
                held[topic]?.failures += 1
                held[topic]?.run = entry.isThrough ? 0 : min(1 << min(entry.failures + 1, 20), Self.greatestRun) - 1
                wait(topic, schedule, atLeast: least, at: now, random: random)
            }
        }
        return Refusal(due: due(entry, lane, hasFailed: isProbe || cause == .tokens), isNews: isNews)
    }

    /// A probe has failed, and another entry is tried at once.
    private mutating func goOn(_ topic: String, wall: WallTime) {
        if case .out(let flight, _, _)? = held[topic]?.state { outs[flight] = nil }
        held[topic]?.run -= 1
        held[topic]?.state = .ready
        held[topic]?.nextProbeAt = wall
    }

    mutating func setAside(
        _ topic: String, lane: Int, cause: Cause, words: String, spare: Int, _ schedule: ProbeSchedule,
        atLeast least: Duration = .zero, at now: Moment, random: Double
    ) -> Refusal {
        guard let slot = freeSlot() else {
            // Too many topics: nothing is lost, and each entry is tried by itself, as seldom as a probe at most is.
            return Refusal(due: now.wall.advanced(by: schedule.maximum), isNews: false)
        }
        slots[slot] = topic
        let entry = Held(
            slot: slot, cause: cause, words: words, since: now.wall, state: .ready, spare: spare,
            refusedAt: now.monotonic)
        held[topic] = entry
        wait(topic, schedule, atLeast: least, at: now, random: random)
        return Refusal(due: due(entry, lane, hasFailed: cause == .tokens), isNews: true)
    }

    private mutating func freeSlot() -> Int? {
        if held.count >= max(policy.greatestHeld, 1) {
            // One of which nothing waits may be forgotten, the least recently refused first.
            let idle = held.filter { $0.value.places.isEmpty && !isOut($0.value) }
            guard let oldest = idle.min(by: { $0.value.refusedAt < $1.value.refusedAt }) else { return nil }
            forget(oldest.key)
        }
        return (0..<Int(Self.span / 2)).first { slots[$0] == nil }
    }

    private func isOut(_ entry: Held) -> Bool { if case .out = entry.state { true } else { false } }

    /// Forgets a topic of which nothing waits: one that the service takes again, and one that is to be tried, whose entries were
    /// taken back or have expired. The next one goes out, and sets it aside again where it is refused.
    mutating func forgetIfIdle(_ topic: String) {
        guard let entry = held[topic], entry.places.isEmpty else { return }
        switch entry.state {
        case .returning: forget(topic)
        // Before its first entries are on disk, nothing waits yet.
        case .ready where isLeft(entry): forget(topic)
        case .ready, .waiting, .out: break
        }
    }

    /// Whether all that had waited was taken back, or has expired.
    private func isLeft(_ entry: Held) -> Bool {
        entry.places.isEmpty && entry.hasWaited && lanes.allSatisfy { $0.sweeps == 0 }
    }

    /// When a topic of which nothing waits any more is forgotten, whatever its pause. What was refused for now may wait elsewhere, by
    /// itself.
    private func forgetsAt(_ entry: Held) -> Duration? {
        isLeft(entry) && entry.cause != .refusals ? entry.waitsSince + Self.settled : nil
    }

    /// When a topic of which nothing waits any more is told no longer.
    private func desertedAt(_ entry: Held) -> Duration? {
        isLeft(entry) && !entry.isDeserted ? entry.waitsSince + Self.settled : nil
    }

    mutating func forget(_ topic: String) {
        guard let entry = held.removeValue(forKey: topic) else { return }
        slots[entry.slot] = nil
    }

    mutating func wait(
        _ topic: String, _ schedule: ProbeSchedule, atLeast least: Duration = .zero, at now: Moment, random: Double
    ) {
        guard let entry = held[topic] else { return }
        if case .out(let flight, _, _) = entry.state { outs[flight] = nil }
        let pause = max(schedule.pause(after: entry.failures, random: random), least)
        held[topic]?.state = .waiting(until: now.monotonic + pause)
        held[topic]?.waitsSince = now.monotonic
        held[topic]?.isDeserted = false
        held[topic]?.nextProbeAt = now.wall.advanced(by: pause)
    }

    /// The topic is not tried before so long is over.
    mutating func postpone(_ topic: String, atLeast least: Duration, at now: Moment) {
        guard case .waiting(let until)? = held[topic]?.state, until < now.monotonic + least else { return }
        held[topic]?.state = .waiting(until: now.monotonic + least)
        held[topic]?.nextProbeAt = now.wall.advanced(by: least)
    }

    // MARK: Answers to probes

    /// Why the topic is set aside that this entry tries; nil for one that is no probe.
    func causeTried(lane: Int, _ uid: UID) -> Cause? {
        outs[Flight(lane: lane, uid: uid)].flatMap { held[$0]?.cause }
    }

    /// Whether the entry is the probe of a topic on trial.
    func isTrialOut(lane: Int, _ uid: UID) -> Bool {
        outs[Flight(lane: lane, uid: uid)].flatMap { held[$0]?.isOnTrial } == true
    }

    /// An entry has met its end, and its answer says nothing of what the topic waits for: another one follows at once.
    mutating func ended(lane: Int, _ uid: UID) {
        guard let topic = outs.removeValue(forKey: Flight(lane: lane, uid: uid)) else { return }
        held[topic]?.state = .ready
        changeSides(of: topic)
    }

    /// An entry was answered by something that is not about its topic.
    ///
    /// - Returns: the topic that is back with it, if that was a probe.
    mutating func taken(lane: Int, _ uid: UID) -> String? {
        guard let topic = outs.removeValue(forKey: Flight(lane: lane, uid: uid)) else { return nil }
        held[topic]?.state = .returning
        held[topic]?.nextProbeAt = nil
        forgetIfIdle(topic)
        return topic
    }

    /// Records that the service took a run of entries.
    mutating func taken(lane: Int, _ uids: ClosedRange<UInt64>) -> [String] {
        outs.keys.filter { $0.lane == lane && uids.contains($0.uid.rawValue) }.compactMap { taken(lane: lane, $0.uid) }
    }

    /// An entry came to nothing; if it was a probe, another one follows.
    ///
    /// - Parameter hasFailed: whether the next pause is longer.
    mutating func lost(
        lane: Int, _ uid: UID, hasFailed: Bool = false, _ schedule: ProbeSchedule, at now: Moment, random: Double
    ) {
        let flight = Flight(lane: lane, uid: uid)
        guard let topic = outs[flight] else { return }
        if hasFailed { fail(topic) }
        lose(flight)
        wait(topic, schedule, at: now, random: random)
    }

    private mutating func lose(_ flight: Flight) {
        if lost.count >= Self.greatestLost { lost = [] }
        lost.insert(flight)
    }

    /// The next pause is longer; on trial within bounds.
    private mutating func fail(_ topic: String) {
        guard let entry = held[topic], !entry.isOnTrial || entry.failures < Self.greatestTrial else { return }
        held[topic]?.failures += 1
    }

    /// The connection has ended, with the probes that it had.
    mutating func lost(connection: Int, _ schedule: ProbeSchedule, at now: Moment, random: Double) {
        for topic in held.keys.sorted() {
            guard case .out(let flight, connection, _)? = held[topic]?.state else { continue }
            lose(flight)
            if held[topic]?.cause == .silence { fail(topic) }
            wait(topic, schedule, at: now, random: random)
        }
    }

    // MARK: Time

    /// Lets probes go whose time has come.
    mutating func look(_ schedule: ProbeSchedule, at now: Moment, random: Double) {
        for (topic, entry) in held {
            if let told = toldAt(entry), told <= now.monotonic { held[topic]?.isTold = true }
            if case .waiting(let until) = entry.state, until > now.monotonic {
                let time = now.wallTime(of: until, before: entry.nextProbeAt)
                if time != entry.nextProbeAt { held[topic]?.nextProbeAt = time }
            }
            switch entry.state {
            case .waiting(let until) where until <= now.monotonic:
                held[topic]?.state = .ready
                changeSides(of: topic)
                forgetIfIdle(topic)
            case .waiting where forgetsAt(entry).map { $0 <= now.monotonic } ?? false: forget(topic)
            case .waiting where desertedAt(entry).map { $0 <= now.monotonic } ?? false: held[topic]?.isDeserted = true
            case .out(_, _, let deadline) where deadline <= now.monotonic:
                wait(topic, schedule, at: now, random: random)
            case .waiting, .ready, .out, .returning: continue
            }
        }
        for lane in lanes.indices where lanes[lane].sweptAt + policy.sweep <= now.monotonic {
            lanes[lane].sweptAt = now.monotonic
            guard lanes[lane].sweeps == 0, held.values.contains(where: { $0.places.contains { $0.lane == lane } })
            else {
                continue
            }
            lanes[lane].generation = 1 - lanes[lane].generation
            (lanes[lane].sweeps, lanes[lane].isSweepDue) = (1, true)
        }
    }

    /// The next probes need not wait: what was wrong may be mended. Nor need they for one that the service leaves unanswered.
    mutating func hurry(at now: Moment) {
        for (topic, entry) in held {
            if case .out(let flight, _, _) = entry.state, entry.cause == .silence {
                outs[flight] = nil
                held[topic]?.state = .waiting(until: now.monotonic)
            }
            hurry(topic, at: now)
        }
    }

    /// Others were answered: the topic is tried at once, the first time.
    mutating func hurryTrial(_ topic: String, at now: Moment) {
        if held[topic]?.failures == 0 { hurry(topic, at: now) }
    }

    /// The topic's next probe need not wait.
    mutating func hurry(_ topic: String, at now: Moment) {
        guard case .waiting? = held[topic]?.state else { return }
        held[topic]?.state = .ready
        held[topic]?.nextProbeAt = now.wall
        changeSides(of: topic)
        forgetIfIdle(topic)
    }

    /// When there is something to do again.
    var wake: Duration? {
        guard !held.isEmpty else { return nil }
        let states = held.values.lazy.compactMap { entry -> Duration? in
            switch entry.state {
            case .waiting(let until): min(until, forgetsAt(entry) ?? until, desertedAt(entry) ?? until)
            case .out(_, _, let until): until
            case .ready, .returning: nil
            }
        }
        let told = held.values.compactMap { toldAt($0) }
        return (Array(states) + told + lanes.map { $0.sweptAt + policy.sweep }).min()
    }

    // MARK: Telling

    /// By topic.
    var statuses: [Status] {
        held.compactMap { topic, entry in
            if case .returning = entry.state { return nil }
            if entry.isOnTrial && !entry.isTold || entry.isDeserted { return nil }
            // One that is on its way, or goes next, has no time any more.
            let next =
                switch entry.state {
                case .waiting: entry.nextProbeAt
                case .ready where yields: yieldsUntil
                case .ready, .out, .returning: WallTime?.none
                }
            return Status(topic: topic, reason: entry.words, since: entry.since, nextProbeAt: next, cause: entry.cause)
        }
        .sorted { $0.topic < $1.topic }
    }

    /// Why what is left of the lane waits in vain; nil when nothing is known to wait there, or some of it may well go.
    func reason(lane: Int) -> String? {
        guard lanes[lane].sweeps == 0 else { return nil }
        let waiting = held.filter { $0.value.places.contains { $0.lane == lane } }
        guard let first = waiting.min(by: { $0.key < $1.key }), waiting.values.allSatisfy(\.isInVain) else {
            return nil
        }
        return "topic \(first.key) is set aside: \(first.value.words)"
    }
}
