/// Which lane is served next, and which connection serves it.
extension Consumer {
    /// Which places a hand-out fills.
    enum Places {
        /// Those that the lane keeps.
        case kept
        /// Those that nothing is kept for.
        case free
    }

    /// Places of lanes with one attempt that are not filled yet.
    func keptPlaces(except index: Int? = nil) -> Int {
        var kept = 0
        for other in lanes.indices where other != index { kept += lanes[other].keptPlaces }
        return kept
    }

    /// Places that nothing is kept for. Negative while more is kept than the window has, as after a smaller window.
    func freePlaces() -> Int { emptyPlaces - keptPlaces() }

    /// Places that nothing is in, kept or not.
    private var emptyPlaces: Int {
        var room = 0
        for number in pool.active {
            if let link = open(number) { room += max(self.room(of: link), 0) }
        }
        return min(placeLimit - inFlight, room)
    }

    /// What has a place goes out as soon as the mark covers it, whatever is kept for others: it takes nothing from them.
    func fillKeptPlaces(now: Duration, wall: WallTime) throws(JournalError) {
        for index in lanes.indices {
            while holdReason == nil, end == nil, lanes[index].fillablePlaces > 0,
                let (number, link, room) = roomiest(free: emptyPlaces, isKept: true)
            {
                let taken = try handOutSome(
                    of: index, on: number, link, limit: min(room, lanes[index].fillablePlaces),
                    places: .kept, now: now, wall: wall)
                if taken == 0 { break }
            }
        }
    }

    /// Free places go to the lanes by their shares.
    func sharePlaces(now: Duration, wall: WallTime) throws(JournalError) {
        var wanting = lanes.indices.filter { lanes[$0].wantsPlaces }
        /// Those, and lanes whose mark has to rise first: their part is not given away meanwhile.
        var sharing = wanting
        while holdReason == nil, end == nil, let index = share.next(of: wanting),
            let (number, link, room) = roomiest(free: freePlaces())
        {
            let taken = try handOutSome(
                of: index, on: number, link, limit: share.part(of: index, among: sharing, room: room),
                places: .free, now: now, wall: wall)
            share.took(taken, lane: index)
            let isServed = lanes[index].key.guarantee == .atMostOnce && wanting.count < sharing.count
            if taken == 0 || isServed || !lanes[index].wantsPlaces { wanting.removeAll { $0 == index } }
            if !lanes[index].wantsPlaces { sharing.removeAll { $0 == index } }
        }
    }

    /// How many deferred entries of a lane with one attempt may come back now: as many as get a place.
    func promotionPlaces(_ lane: Int) -> Int {
        let free = freePlaces()
        guard inFlight == 0 || free > min(windowLimit, 8000) / 8 else { return 0 }
        let others = lanes.indices.filter { $0 != lane && (wantsPlaces($0) || wantsPromotion($0)) }
        // What is to go alone comes back whatever the lane has had: the others wait for it.
        guard caution.hasRoom(in: lanes[lane].id) || !share.isAhead(lane, of: others) else { return 0 }
        let allowed = rate.map { rate in
            var rate = rate
            return rate.allowance(now: clock.monotonic()) - keptPlaces()
        }
        var throttle = throttle
        let granted = throttle.allowance(inFlight: inFlight, now: clock.monotonic())
        return min(share.part(of: lane, among: others + [lane], room: free), allowed ?? .max, granted)
    }

    /// Whether a lane wants places for anything that is not to let others go first.
    private func wantsPlaces(_ index: Int) -> Bool {
        lanes[index].wantsPlaces && (lanes[index].hasForwardWork || againCount(in: index) > 0)
    }

    /// Whether deferred entries of a lane with one attempt are due, so that they want places.
    private func wantsPromotion(_ lane: Int) -> Bool {
        guard lanes[lane].key.guarantee == .atMostOnce, lanes[lane].handsOut, !lanes[lane].isPromoting,
            let due = deferredDue[lane]
        else { return false }
        return due.monotonic <= clock.monotonic()
    }

    // MARK: Connections

    /// How many more entries the connection takes, whatever the others have.
    func room(of link: Link) -> Int {
        min(link.capacity - link.load, linkWindowLimit - link.count + placeLimit - windowLimit)
    }

    func openWithRoom(_ number: Int) -> Link? { open(number).flatMap { room(of: $0) > 0 ? $0 : nil } }

    private func open(_ number: Int) -> Link? {
        guard let link = links[number], link.connection != nil, link.pausedUntil == nil else { return nil }
        return link
    }

    /// The connection that is given something next, with room that is worth a read of the journal.
    ///
    /// The service's streams before queues: while any connection has a stream free, nothing waits in another. Among those
    /// that have, the one that is loaded least for its size; among equals the one that has had least.
    ///
    /// - Parameter isKept: whether any room will do.
    func roomiest(free: Int, isKept: Bool = false) -> (number: Int, link: Link, room: Int)? {
        guard free > 0 else { return nil }
        var best: (number: Int, link: Link, room: Int)?
        for number in pool.active {
            guard let link = open(number) else { continue }
            let room = min(free, room(of: link))
            let worthwhile = min(linkWindowLimit, link.capacity, 8000) / 8
            guard room > 0, isKept || room > worthwhile || link.count == 0 else { continue }
            if let other = best?.link, !link.isBetter(than: other) { continue }
            best = (number, link, room)
        }
        guard let (number, link, room) = best else { return nil }
        let streams = link.freeStreams
        return (number, link, streams > 0 && pool.active.count > 1 ? min(room, streams) : room)
    }
}
