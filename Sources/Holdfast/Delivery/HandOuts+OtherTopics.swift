/// Topics that the service leaves unanswered, or refuses for now: see ``TopicSilence`` and ``TopicRefusals``.
extension HandOuts {
    /// The most entries to search in a turn for one of another topic.
    static let othersLook = 20_000

    /// A connection that has brought no answer may be kept by one request that gets none. Where anything else could go, what
    /// keeps it waits, and another connection follows. Likewise the probes of a throttled route may all be of one topic, one that
    /// gets no answer keeps the next one, and one that is refused may cost others their connection.
    func letOthersGo(at now: Moment) throws(JournalError) {
        let isThrottleKept = isThrottleKept(now: now.monotonic)
        noteHesitation(isThrottleKept: isThrottleKept, now: now.monotonic)
        judge.holdDropped(at: now)
        let kept = kept
        let isThrottled = isThrottleKept || looksForOtherTopic(now: now.monotonic)
        let isForeign = judge.hasForeignBefore
        guard !kept.isEmpty || isThrottled || isForeign else {
            if !searchedThrough.isEmpty, !judge.throttle.isHolding { searchedThrough = [:] }
            return
        }
        // What was passed by may go before those that were tried more often.
        if judge.silence.compare(with: kept.isEmpty ? nil : topics(keeping: kept)) {
            (searchedThrough, othersAt, refusedAt) = ([:], [:], [:])
        }
        let isOther = try isOtherAtHand(kept, at: now)
        if !isOther {
            guard nextSearch(now: now.monotonic) == nil else { return }
            // What keeps the probe is silent. Of others that were refused meanwhile, as all may have been, something was taken before.
            guard isThrottleKept, try findRefused(kept, at: now) else { return foundNoOthers(kept, at: now) }
        }
        (searchedThrough, refusedAt) = ([:], [:])
        if isOther, isForeign { judge.letOthersGoBeforeForeign(at: now) }
        if isOther, isThrottled { judge.letOthersGoBeforeRefused(at: now) }
        if isThrottleKept { judge.throttle.passOver(inFlight: connections.inFlight) }
        guard judge.letOthersGo(at: now), connections.pool.mayFollow(now: now.monotonic) else { return }
        for number in kept where connections[number].map({ $0.flights.handOuts > 0 }) ?? false {
            giveUp(number, at: now)
        }
    }

    private func foundNoOthers(_ kept: [Int], at now: Moment) {
        judge.throttle.foundNoOthers(now: now.monotonic)
        if !kept.isEmpty { judge.foundNoOthers() }
        // Others may come, and find no connection left.
        if isScarce(now: now.monotonic), looksForOtherTopic(now: now.monotonic), !judge.throttle.isPaused {
            judge.letOthersGoBeforeRefused(at: now)
        }
    }

    private func looksForOtherTopic(now: Duration) -> Bool {
        judge.looksForOtherTopic(now: now) { isNothingProven || isScarce(now: now) }
    }

    /// Whether nothing was taken yet on any connection that has room.
    private var isNothingProven: Bool {
        let open = connections.pool.active.compactMap { places.openWithRoom($0) }
        return !open.isEmpty && open.allSatisfy(\.isUnproven)
    }

    private func isScarce(now: Duration) -> Bool { connections.pool.isScarce(now: now) }

    /// See ``ProbeYielding``.
    func lookWhoYields(at now: Moment) {
        guard !judge.topicHold.isEmpty else { return yielding.forget() }
        let look = ProbeYielding.Look(
            isScarce: isScarce(now: now.monotonic), hasProbeOut: judge.topicHold.hasProbeOut,
            isToProbe: judge.throttle.isToProbe, isNothingProven: isNothingProven,
            isLeft: lanes.contains { $0.isRunning && $0.machine.hasForwardWork })
        yielding.look(look, now: now.monotonic)
        (judge.topicHold.yields, judge.topicHold.yieldsConnection) = (yielding.yields, yielding.yieldsConnection)
        judge.topicHold.yieldsUntil = nextPlenty(now: now.monotonic).map {
            now.wallTime(of: $0, before: judge.topicHold.yieldsUntil)
        }
    }

    /// When probes that wait for connections to be plenty may go.
    func nextPlenty(now: Duration) -> Duration? {
        guard !judge.topicHold.isEmpty else { return nil }
        return yielding.end(plenty: connections.pool.nextPlenty(now: now), now: now)
    }

    private func isThrottleKept(now: Duration) -> Bool {
        judge.confirmationMode == .perNotification
            && judge.throttle.isKept(inFlight: connections.inFlight, now: now)
    }

    /// Requests for which others have waited long enough make their topics silent.
    private func noteHesitation(isThrottleKept: Bool, now: Duration) {
        let patience = judge.silence.patience(now: now)
        for (number, link) in connections.links {
            let isLate = patience.map { patience in timeKept(number).map { $0 >= patience } ?? false } ?? false
            guard isThrottleKept || isLate else { continue }
            for flight in link.unanswered.open {
                judge.silence.hesitates(
                    flight.topic, handedOutIn: flight.handedOutIn, at: now - link.flights.window.timeOut(flight))
            }
        }
    }

    /// When others have waited for long enough for what a connection has that has no room.
    func nextHesitation(now: Duration) -> Duration? {
        guard let patience = judge.silence.patience(now: now) else { return nil }
        return connections.pool.active
            .compactMap { timeKept($0).map { now + patience - $0 } }
            .filter { $0 > now }.min()
    }

    /// For how long others have waited for what a connection has; nil where it has room. As long as the last of what the service works
    /// on has been there.
    private func timeKept(_ number: Int) -> Duration? {
        guard connections.pool.contains(number), let link = connections[number], link.count > 0,
            places.room(of: link) <= 0 || link.freeStreams == 0
        else { return nil }
        let window = link.flights.window
        // A connection that is busy is full in most turns, and its entries are many.
        guard link.isUnproven || window.timeSinceHandOut >= TopicSilence.nextPatience else {
            return window.timeSinceHandOut
        }
        return link.unanswered.open.map { window.timeOut($0) }.min()
    }

    /// Connections that are kept by silent topics; none while another one that works has room.
    private var kept: [Int] {
        guard !judge.silence.isEmpty else { return [] }
        let active = connections.pool.active
        let works = active.contains { hasWorked($0) && places.openWithRoom($0) != nil }
        return works ? [] : active.filter { isKept($0) }
    }

    private func topics(keeping numbers: [Int]) -> [UInt32] {
        numbers.flatMap { connections[$0]?.unanswered.open.map(\.topic) ?? [] }
    }

    private func hasWorked(_ number: Int) -> Bool { connections[number]?.flights.hasWorked == true }

    /// Whether a connection that has brought no answer has nothing but requests of silent topics, or such requests have all streams
    /// of one that has brought some. One that has nothing may get such a request next: that is waited for once.
    private func isKept(_ number: Int) -> Bool {
        guard let link = connections[number], link.flights.cumulative == nil,
            !link.flights.hasWorked || link.freeStreams == 0
        else { return false }
        let open = link.unanswered.open
        return open.isEmpty ? judge.silence.isRepeated : open.allSatisfy { judge.silence.contains($0.topic) }
    }

    /// An operator's word: entries that wait are tried now, and wait neither for probes that let others go first, nor for requests that
    /// have had no answer for long.
    func hurry(at now: Moment) {
        yielding.hurry(now: now.monotonic)
        for number in connections.pool.active where timeKept(number).map({ $0 >= TopicSilence.nextPatience }) ?? false {
            guard connections.pool.mayFollow(now: now.monotonic) else { return }
            giveUp(number, at: now)
        }
    }

    private func giveUp(_ number: Int, at now: Moment) {
        judge.loseLaneProbes(of: number, at: now)
        connections.giveUp(number, now: now.monotonic)
    }

    /// When silent topics may lose the connections that they keep, if that waits for no more than another one to be made.
    func nextGivingUp(now: Duration) -> Duration? {
        guard !judge.silence.isEmpty, !connections.pool.mayFollow(now: now), !kept.isEmpty else { return nil }
        return connections.pool.nextReplacements(now: now).filter { $0 > now }.min()
    }

    /// When the search goes on; nil when there is nothing more to search.
    func nextSearch(now: Duration) -> Duration? {
        guard !searchedThrough.isEmpty, !connections.pool.active.isEmpty else { return nil }
        guard
            looksForOtherTopic(now: now) || isThrottleKept(now: now) || judge.hasForeignBefore
                || places.holdReason == nil && !kept.isEmpty
        else { return nil }
        let goesOn = searchedThrough.contains { index, uid in
            isSearched(index) && uid < lanes[index].machine.lastUID
        }
        return goesOn ? now + .milliseconds(1) : nil
    }

    /// Counts the entries of a batch from its first one through the last of `most` entries that may go. Entries of topics that are
    /// set aside are counted, too, so that they are withheld in one settlement. Where fewer may go, all are counted.
    func count(in batch: EntryBatch, of index: Int, through most: Int) -> Int {
        var left = most
        for position in batch.items.indices where mayGo(position, of: batch, index) {
            left -= 1
            if left == 0 { return position + 1 }
        }
        return batch.count
    }

    private func mayGo(_ position: Int, of batch: EntryBatch, _ index: Int) -> Bool {
        do throws(PackedNotification.Damage) {
            return judge.mayGo(lanes.key(index, batch.items[position].uid), try batch.fields(at: position), in: batch)
        } catch {
            // It is moved aside when its turn comes.
            return false
        }
    }

    /// - Parameter kept: connections that are kept. What waits in them is returned when they are given up.
    private func isOtherAtHand(_ kept: [Int], at now: Moment) throws(JournalError) -> Bool {
        if isWaiting(on: kept, judge.goesFirst) { return true }
        for index in lanes.indices where isSearched(index) {
            // What has one attempt comes back from the disk one by one here. It may be of any topic, if there are several.
            if lanes[index].hasOneAttempt, lanes[index].deferral.isDue(now.monotonic), judge.breakers.tellsTopicsApart {
                return true
            }
            if let again = try goingAgain(in: index), firstOther(in: again) != nil { return true }
            if try isOtherAhead(in: index) { return true }
        }
        return false
    }

    /// Whether another topic helps the lane: it runs, or tries one entry, which may be kept by what is not about the lane.
    private func isSearched(_ index: Int) -> Bool {
        lanes[index].isRunning || lanes[index].wantsProbe && judge.hasStopping(lanes[index].machine.remedy)
    }

    private func isWaiting(on numbers: [Int], _ isWanted: (UInt32) -> Bool) -> Bool {
        numbers.contains { connections[$0]?.unanswered.waiting.contains { isWanted($0.topic) } ?? false }
    }

    /// The first entries of a lane that go again; nil for none.
    private func goingAgain(in index: Int) throws(JournalError) -> EntryBatch? {
        let again = lanes[index].machine.again.prefix(Self.probeLook)
        return again.isEmpty ? nil : try context.journal.unconfirmed(lanes[index].id, uids: again.map(\.uid))
    }

    /// Goes on behind the entries that earlier turns have searched. What was found once is not searched for again before the
    /// reading has come to it.
    private func isOtherAhead(in index: Int) throws(JournalError) -> Bool {
        let machine = lanes[index].machine
        if let found = othersAt[index], machine.cursor < found { return true }
        var after = max(machine.cursor, searchedThrough[index] ?? .none)
        for _ in 0..<(Self.othersLook / Self.probeLook) where after < machine.lastUID {
            let ahead = try context.journal.unconfirmed(
                lanes[index].id, after: after, through: machine.lastUID, limit: Self.probeLook)
            if let position = firstOther(in: ahead) {
                othersAt[index] = ahead.items[position].uid
                return true
            }
            if let position = lastTaken(in: ahead) { refusedAt[index] = ahead.items[position].uid }
            after = ahead.lastUID ?? machine.lastUID
            searchedThrough[index] = after
        }
        return false
    }

    private func firstOther(in batch: EntryBatch) -> Int? {
        firstReadable(in: batch) { judge.goesFirst($0, in: batch) }
    }

    /// Looks for an entry of a topic that was refused for now, and of which something was taken before. Such topics that wait to show
    /// how others fare are tried.
    private func findRefused(_ kept: [Int], at now: Moment) throws(JournalError) -> Bool {
        if judge.tryRefusedAgain(at: now) || isWaiting(on: kept, judge.wasTaken) { return true }
        for index in lanes.indices where lanes[index].isRunning {
            if let found = refusedAt[index], lanes[index].machine.cursor < found { return true }
            if let again = try goingAgain(in: index), lastTaken(in: again) != nil { return true }
        }
        return false
    }

    private func lastTaken(in batch: EntryBatch) -> Int? {
        lastReadable(in: batch) { judge.wasTaken($0, in: batch) }
    }
}
