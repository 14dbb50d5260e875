/// Hands entries out: from the journal to the connections, as far as there are places.
final class HandOuts {
    let context: RouteContext
    let lanes: LaneTable
    let connections: Connections
    let judge: RouteJudge
    let places: Places
    let performer: PlanPerformer
    let promotions: Promotions
    let quarantines: Quarantines
    let shutdown: Shutdown
    /// Taken back by an operator, and not settled on disk yet: nothing of them goes out any more.
    var withdrawing: Set<EntryKey> = []
    /// By lane, how many entries are read for each that goes: more and more while all that is read waits for its topic, so that a
    /// throttled route does not withhold them one by one.
    var stretches: [Int: Int] = [:]
    /// How far each lane was searched for entries of topics that the service answers: see ``letOthersGo(at:)``.
    var searchedThrough: [Int: UID] = [:]
    /// Where such an entry was found, by lane.
    var othersAt: [Int: UID] = [:]
    /// The last entries that this search has found of topics that were refused for now, by lane.
    var refusedAt: [Int: UID] = [:]
    /// Whether topics that are set aside let others go first.
    var yielding = ProbeYielding()

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ connections: Connections, _ judge: RouteJudge, _ places: Places,
        _ performer: PlanPerformer, _ promotions: Promotions, _ quarantines: Quarantines, _ shutdown: Shutdown
    ) {
        self.context = context
        self.lanes = lanes
        self.connections = connections
        self.judge = judge
        self.places = places
        self.performer = performer
        self.promotions = promotions
        self.quarantines = quarantines
        self.shutdown = shutdown
    }

    func handOut(at now: Moment) {
        guard !connections.pool.active.isEmpty else { return }
        do throws(JournalError) {
            if places.holdReason == nil || judge.throttle.mayProbeOthers(now: now.monotonic) {
                try letOthersGo(at: now)
            }
            // Others may have been let go just now.
            lookWhoYields(at: now)
            guard places.holdReason == nil else { return }
            for index in lanes.indices {
                guard let ceiling = lanes[index].machine.raiseAhead() else { continue }
                context.journal.raiseMark(of: lanes[index].id, to: ceiling)
            }
            if try tryAccused(at: now) { return }
            try fillKeptPlaces(at: now)
            try sharePlaces(at: now)
            // All that was read may wait for its topic: then one of those topics is tried.
            lookWhoYields(at: now)
        } catch {
            shutdown.readFailed(error, now: now.monotonic)
        }
    }

    private var mayGoOn: Bool { places.holdReason == nil && !context.ending.isOver }

    /// Entries with a place go out as soon as the mark covers them, whatever is kept for others: they take nothing from them.
    func fillKeptPlaces(at now: Moment) throws(JournalError) {
        for index in lanes.indices {
            while mayGoOn, lanes[index].machine.fillablePlaces > 0,
                let (number, link, room) = places.roomiest(free: places.empty, isKept: true)
            {
                let taken = try handOutSome(
                    of: index, on: number, link, limit: min(room, lanes[index].machine.fillablePlaces),
                    isKept: true, at: now)
                if taken == 0 { break }
            }
        }
    }

    /// Free places go to the lanes by their shares.
    private func sharePlaces(at now: Moment) throws(JournalError) {
        var wanting = lanes.indices.filter { lanes[$0].machine.wantsPlaces }
        /// Beside them lanes whose mark has to rise first: their part is not given away meanwhile.
        var sharing = wanting
        while mayGoOn, let index = lanes.share.next(of: wanting),
            let (number, link, room) = places.roomiest(free: places.free)
        {
            let taken = try handOutSome(
                of: index, on: number, link, limit: lanes.share.part(of: index, among: sharing, room: room),
                isKept: false, at: now)
            lanes.share.took(taken, lane: index)
            let isServed = lanes[index].hasOneAttempt && wanting.count < sharing.count
            if taken == 0 || isServed || !lanes[index].machine.wantsPlaces { wanting.removeAll { $0 == index } }
            if !lanes[index].machine.wantsPlaces { sharing.removeAll { $0 == index } }
        }
    }

    /// - Parameters:
    ///   - limit: the most entries.
    ///   - isKept: whether they fill places that the lane keeps, and not those that nothing is kept for.
    /// - Returns: how many entries were dealt with, or were given places; 0 when it is not worth asking again.
    private func handOutSome(
        of index: Int, on number: Int, _ link: Link, limit: Int, isKept: Bool, at now: Moment
    ) throws(JournalError) -> Int {
        let lane = lanes[index]
        guard lane.handsOut, lane.hasWork else { return 0 }
        let grant = places.grant(
            limit, of: index, isKept: isKept, stretch: stretches[index] ?? 1, now: now.monotonic)
        let room = lane.isRunning ? grant.reading : min(grant.reading, 1)
        let most = grant.going
        let passedOver = judge.passedOver(in: index, inFlight: connections.inFlight)
        if room > 0, let taken = try tryOtherTopic(of: index, on: number, link, passingOver: passedOver, at: now) {
            return taken
        }
        switch lane.machine.nextStep(limit: room, passingOver: passedOver) {
        case .none:
            return 0
        case .peek(let after):
            return try peek(index, after: after, limit: lane.hasOneAttempt ? room : 1)
        case .readAgain(let again):
            return try readAgain(
                again, of: index, on: number, link, atMost: most, isFront: passedOver.isEmpty, at: now)
        case .read(let after, let through):
            return try read(
                after: after, through: through, limit: room, of: index, on: number, link, atMost: most, at: now)
        }
    }

    private func readAgain(
        _ again: [LaneStateMachine.Again], of index: Int, on number: Int, _ link: Link, atMost most: Int, isFront: Bool,
        at now: Moment
    ) throws(JournalError) -> Int {
        let lane = lanes[index]
        let covered = lane.machine.covered(again)
        guard covered > 0 else {
            raise(index, through: again[again.count - 1].uid)
            return 0
        }
        var taken = Array(again.prefix(covered))
        let (number, link) = otherConnection(than: number, for: &taken, lane: index) ?? (number, link)
        let batch = try context.journal.unconfirmed(lane.id, uids: taken.map(\.uid))
        let possiblySent = Set(taken.lazy.filter(\.possiblySent).map(\.uid))
        lanes[index].machine.takeAgain(taken, isFront: isFront)
        quarantines.order(batch.unreadable, of: index, wall: now.wall) { possiblySent.contains($0) }
        give(batch, of: index, on: number, link, atMost: most, at: now) { possiblySent.contains($0) }
        return taken.count
    }

    private func read(
        after: UID, through: UID, limit: Int, of index: Int, on number: Int, _ link: Link, atMost most: Int,
        at now: Moment
    ) throws(JournalError) -> Int {
        let lane = lanes[index]
        let batch = try context.journal.unconfirmed(lane.id, after: after, through: through, limit: limit)
        lanes[index].machine.advance(to: batch.lastUID ?? through, count: batch.wholeCount)
        let markAtOpen = lane.machine.markAtOpen
        quarantines.order(batch.unreadable, of: index, wall: now.wall) { $0 <= markAtOpen }
        let fresh = batch.removing(lanes[index].machine.passOver(in: batch))
        give(fresh, of: index, on: number, link, atMost: most, at: now) { $0 <= markAtOpen }
        // Nothing may lie below the mark, and something above it.
        return max(batch.wholeCount, 1)
    }

    /// Looks how far the mark must rise for the next entries. In a lane with one attempt they have places from then on.
    private func peek(_ index: Int, after: UID, limit: Int) throws(JournalError) -> Int {
        let batch = try context.journal.unconfirmed(lanes[index].id, after: after, through: .max, limit: limit)
        guard let last = batch.lastUID else {
            lanes[index].machine.peekedNothing()
            return 0
        }
        raise(index, through: last, places: batch.wholeCount)
        return lanes[index].hasOneAttempt ? batch.wholeCount : 0
    }

    /// Asks for a higher mark. The entries go out when its commit has been reported.
    func raise(_ index: Int, through uid: UID, places: Int = 0) {
        guard let ceiling = lanes[index].machine.raise(through: uid, places: places) else { return }
        context.journal.raiseMark(of: lanes[index].id, to: ceiling)
    }

    /// Of what goes again, how many go together, and the connection that is to have them: a token that was called bad goes to
    /// another one than that which has called it so.
    ///
    /// - Returns: nil for the connection that has its turn.
    private func otherConnection(
        than number: Int, for again: inout [LaneStateMachine.Again], lane: Int
    ) -> (Int, Link)? {
        let (breakers, active) = (judge.breakers, connections.pool.active)
        guard breakers.hasChances, active.count > 1, let first = again.first else { return nil }
        let chance = breakers.chance(lane: lane, first.uid)
        again = Array(again.prefix { breakers.chance(lane: lane, $0.uid) == chance })
        guard let chance else { return nil }
        let others = active.compactMap { number in places.openWithRoom(number).map { (number, $0) } }
        let (wellKnown, topic) = (others.filter { !breakers.isDiscredited($0.0, topic: chance.topic) }, chance.topic)
        let other =
            wellKnown.first { $0.0 != chance.voice && $0.0 == number } ?? wellKnown.first { $0.0 != chance.voice }
        guard let best = other ?? (breakers.isDiscredited(number, topic: topic) ? wellKnown.first : nil) else {
            return nil
        }
        again = Array(again.prefix(places.room(of: best.1)))
        return best
    }
}
