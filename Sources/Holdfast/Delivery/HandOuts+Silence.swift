/// Topics that the service leaves unanswered: see ``TopicSilence``.
extension HandOuts {
    /// The most entries to search in a turn for one of another topic.
    static let silenceLook = 20_000

    /// A connection that has brought no answer may be kept by one request that gets none. Where anything else could go, what
    /// keeps it waits, and another connection follows.
    func letOthersGo(at now: Moment) throws(JournalError) {
        let kept = judge.silence.letsOthersGo ? connections.pool.active.filter { isKept($0) } : []
        let works = connections.pool.active.contains { hasWorked($0) && places.openWithRoom($0) != nil }
        guard !kept.isEmpty, !works else {
            searchedThrough = [:]
            return
        }
        guard try isOtherAtHand(at: now), judge.letOthersGo(at: now) else { return }
        searchedThrough = [:]
        for number in kept where connections[number].map({ $0.flights.handOuts > 0 }) ?? false {
            connections.giveUp(number, now: now.monotonic)
        }
    }

    private func hasWorked(_ number: Int) -> Bool { connections[number]?.flights.hasWorked == true }

    /// Whether a connection has brought no answer, and has nothing but requests of silent topics.
    private func isKept(_ number: Int) -> Bool {
        guard let flights = connections[number]?.flights, flights.cumulative == nil, !flights.hasWorked else {
            return false
        }
        return flights.window.unansweredTopics.allSatisfy { judge.silence.contains($0) }
    }

    /// When the search goes on; nil when there is nothing more to search.
    func nextSearch(now: Duration) -> Duration? {
        guard !searchedThrough.isEmpty, !connections.pool.active.isEmpty, places.holdReason == nil else { return nil }
        let goesOn = searchedThrough.contains { index, uid in
            lanes[index].isRunning && uid < lanes[index].machine.lastUID
        }
        return goesOn ? now + .milliseconds(1) : nil
    }

    /// What lies behind the first entry of a batch that no hold of its topic keeps: those before it are withheld all at once.
    func behindFirst(in batch: EntryBatch) -> Range<Int> {
        let first = batch.items.indices.first { position in
            (try? batch.fields(at: position)).map { judge.mayGo($0, in: batch) } ?? false
        }
        return (first.map { $0 + 1 } ?? batch.items.endIndex)..<batch.items.endIndex
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
        return hasOther(try context.journal.unconfirmed(lanes[index].id, uids: again.map(\.uid)))
    }

    /// What was searched in vain once is not searched again.
    private func isOtherAhead(in index: Int) throws(JournalError) -> Bool {
        let machine = lanes[index].machine
        var after = max(machine.cursor, searchedThrough[index] ?? .none)
        for _ in 0..<(Self.silenceLook / Self.probeLook) where after < machine.lastUID {
            let ahead = try context.journal.unconfirmed(
                lanes[index].id, after: after, through: machine.lastUID, limit: Self.probeLook)
            if hasOther(ahead) { return true }
            after = ahead.lastUID ?? machine.lastUID
            searchedThrough[index] = after
        }
        return false
    }

    private func hasOther(_ batch: EntryBatch) -> Bool {
        batch.items.indices.contains { position in
            // What can't be read is moved aside when its turn comes.
            guard let fields = try? batch.fields(at: position) else { return false }
            return judge.goesBeforeSilent(fields, in: batch)
        }
    }
}
