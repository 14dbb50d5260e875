/// Topics that the service leaves unanswered, or refuses for now: see ``TopicSilence`` and ``TopicRefusals``.
extension HandOuts {
    /// The most entries to search in a turn for one of another topic.
    static let othersLook = 20_000

    /// A connection that has brought no answer may be kept by one request that gets none. Where anything else could go, what
    /// keeps it waits, and another connection follows. Likewise the probes of a throttled route may all be of one topic, and
    /// one that gets no answer keeps the next one.
    func letOthersGo(at now: Moment) throws(JournalError) {
        let isKept = isThrottleKept(now: now.monotonic)
        if isKept { noteHesitation() }
        let kept = kept
        let isThrottled = isKept || judge.looksForOtherTopic(now: now.monotonic)
        guard !kept.isEmpty || isThrottled else {
            if !searchedThrough.isEmpty, !judge.throttle.isHolding { searchedThrough = [:] }
            return
        }
        if !isOtherWaiting(on: kept), try !isOtherAtHand(at: now) {
            if nextSearch(now: now.monotonic) == nil { judge.throttle.foundNoOthers(now: now.monotonic) }
            return
        }
        searchedThrough = [:]
        if isThrottled { judge.letOthersGoBeforeRefused(at: now) }
        if isKept { judge.throttle.passOver(inFlight: connections.inFlight) }
        guard judge.letOthersGo(at: now) else { return }
        for number in kept where connections[number].map({ $0.flights.handOuts > 0 }) ?? false {
            connections.giveUp(number, now: now.monotonic)
        }
    }

    /// While a throttled route has but one request, no topic's probe is that request, where anything else is left to read.
    func lookWhoYields() {
        judge.topicHold.yields =
            judge.throttle.isToProbe && lanes.contains { $0.isRunning && $0.machine.hasForwardWork }
    }

    private func isThrottleKept(now: Duration) -> Bool {
        judge.confirmationMode == .perNotification
            && judge.throttle.isKept(inFlight: connections.inFlight, now: now)
    }

    private func noteHesitation() {
        for link in connections.links.values {
            for flight in link.unanswered.open {
                judge.silence.hesitates(flight.topic, handedOutIn: flight.handedOutIn)
            }
        }
    }

    /// Connections that are kept by silent topics; none while another one that works has room.
    private var kept: [Int] {
        guard judge.silence.letsOthersGo else { return [] }
        let active = connections.pool.active
        let works = active.contains { hasWorked($0) && places.openWithRoom($0) != nil }
        return works ? [] : active.filter { isKept($0) }
    }

    private func hasWorked(_ number: Int) -> Bool { connections[number]?.flights.hasWorked == true }

    /// Whether a connection that has brought no answer has nothing but requests of silent topics, or such requests have all streams
    /// of one that has brought some.
    private func isKept(_ number: Int) -> Bool {
        guard let link = connections[number], link.flights.cumulative == nil,
            !link.flights.hasWorked || link.freeStreams == 0
        else { return false }
        return link.unanswered.open.allSatisfy { judge.silence.contains($0.topic) }
    }

    /// When the search goes on; nil when there is nothing more to search.
    func nextSearch(now: Duration) -> Duration? {
        guard !searchedThrough.isEmpty, !connections.pool.active.isEmpty else { return nil }
        guard
            judge.looksForOtherTopic(now: now) || isThrottleKept(now: now) || places.holdReason == nil && !kept.isEmpty
        else { return nil }
        let goesOn = searchedThrough.contains { index, uid in
            lanes[index].isRunning && uid < lanes[index].machine.lastUID
        }
        return goesOn ? now + .milliseconds(1) : nil
    }

    /// Counts the entries of a batch from its first one through the last of `most` entries that may go. Entries of topics that are
    /// set aside are counted, too, so that they are withheld in one settlement. Where fewer may go, all are counted.
    func count(in batch: EntryBatch, through most: Int) -> Int {
        var left = most
        return firstReadable(in: batch) { fields in
            if judge.mayGo(fields, in: batch) { left -= 1 }
            return left == 0
        }.map { $0 + 1 } ?? batch.count
    }

    /// Whether one waits in these connections. They return it when they are given up.
    private func isOtherWaiting(on numbers: [Int]) -> Bool {
        numbers.contains { number in
            connections[number]?.unanswered.waiting.contains { judge.goesFirst($0.topic) } ?? false
        }
    }

    private func isOtherAtHand(at now: Moment) throws(JournalError) -> Bool {
        for index in lanes.indices where lanes[index].isRunning {
            // What has one attempt comes back from the disk one by one here. It may be of any topic.
            if lanes[index].hasOneAttempt, lanes[index].deferral.isDue(now.monotonic) { return true }
            if try isOtherGoingAgain(in: index) { return true }
            if try isOtherAhead(in: index) { return true }
        }
        return false
    }

    private func isOtherGoingAgain(in index: Int) throws(JournalError) -> Bool {
        let again = lanes[index].machine.again.prefix(Self.probeLook)
        guard !again.isEmpty else { return false }
        let batch = try context.journal.unconfirmed(lanes[index].id, uids: again.map(\.uid))
        return firstOther(in: batch) != nil
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
            after = ahead.lastUID ?? machine.lastUID
            searchedThrough[index] = after
        }
        return false
    }

    private func firstOther(in batch: EntryBatch) -> Int? {
        firstReadable(in: batch) { judge.goesFirst($0, in: batch) }
    }
}
