internal import Holdfast
internal import NIOCore

/// What one connection has asked the engine for: the outcomes of its waiting requests. Lives on the connection's event loop.
struct AwaitedOutcomes {
    /// One piece of news: the notification of a stream has ended, or the engine has (nil).
    struct News: Sendable {
        let streamID: UInt32
        let outcome: Outcome?
    }

    private let mailbox: LoopMailbox<News>
    private let places: SharedPlaces
    private var feed: OutcomeFeed?
    private var waits: [UInt32: OutcomeFeed.Wait] = [:]
    /// Of ``places``.
    private var taken = 0
    /// The next look at requests that have waited long enough.
    var timer: Scheduled<Void>?
    var timerTime: NIODeadline?

    init(_ places: SharedPlaces, on loop: any EventLoop, receive: @escaping @Sendable ([News]) -> Void) {
        self.places = places
        mailbox = LoopMailbox(on: loop, receive: receive)
    }

    /// Asks for the outcomes of these.
    mutating func ask(for awaited: [HTTP2IngressSession.Awaited], _ watch: OutcomeWatch) {
        feed = watch.feed
        let mailbox = mailbox
        let begun = watch.feed.await(
            awaited.map { its in
                let streamID = its.streamID
                return (its.uid, { mailbox.put(News(streamID: streamID, outcome: $0)) })
            }, watch.watch)
        for (its, wait) in zip(awaited, begun) { waits[its.streamID] = wait }
    }

    /// These have been told.
    mutating func heard(_ news: [News]) {
        for piece in news { waits[piece.streamID] = nil }
    }

    /// Asks no more for the outcomes of these streams.
    mutating func forget(_ streamIDs: [UInt32]) {
        guard !streamIDs.isEmpty else { return }
        feed?.forget(streamIDs.compactMap { waits.removeValue(forKey: $0) })
    }

    /// Takes places for `count` more requests.
    ///
    /// - Returns: how many there are.
    mutating func takePlaces(_ count: Int) -> Int {
        let granted = places.take(count)
        taken += granted
        return granted
    }

    /// Gives back the places of requests that wait no more.
    mutating func keepPlaces(_ count: Int) {
        places.giveBack(taken - count)
        taken = count
    }
}

extension HTTP2IngressConnection {
    /// Answers the requests of a commit, and asks for the outcomes of those that wait for them.
    func answer(
        _ waiting: [HTTP2IngressSession.Waiting], _ receipts: [Receipt], _ repeats: Int,
        _ watch: OutcomeWatch?
    ) {
        guard let watch, let bound, let context else {
            _ = session.committed(waiting, receipts, repeats: repeats)
            return
        }
        if outcomes == nil {
            outcomes = AwaitedOutcomes(service.places, on: context.eventLoop) { bound.value.heard($0) }
        }
        let granted = outcomes?.takePlaces(waiting.count) ?? 0
        let awaited = session.committed(waiting, receipts, repeats: repeats, mayWait: granted)
        outcomes?.keepPlaces(session.waitCount)
        outcomes?.ask(for: awaited, watch)
    }

    private func heard(_ news: [AwaitedOutcomes.News]) {
        outcomes?.heard(news)
        guard isReading else { return }
        for piece in news {
            session.ended(piece.streamID, piece.outcome, entry: piece.outcome.flatMap { forbidding($0) })
        }
        finishCycle()
    }

    private func forbidding(_ outcome: Outcome) -> BlacklistEntry? {
        guard case .rejected(.blacklisted) = outcome.terminal else { return nil }
        return service.producer.blacklistEntry(for: outcome.recipient, topic: outcome.topic)
    }

    /// Answers requests whose time is over, and asks for nothing that nobody waits for any more.
    func lookAtOutcomes() {
        guard outcomes != nil else { return }
        if isReading { session.lookAtWaits(at: .now()) }
        outcomes?.forget(session.takeForgotten())
        outcomes?.keepPlaces(session.waitCount)
        setOutcomeTimer()
    }

    private func setOutcomeTimer() {
        let next = session.nextLook
        guard next != outcomes?.timerTime else { return }
        // One that comes too early looks again.
        if let next, let set = outcomes?.timerTime, set <= next { return }
        outcomes?.timer?.cancel()
        outcomes?.timer = nil
        outcomes?.timerTime = nil
        guard let next, let bound, let context else { return }
        outcomes?.timerTime = next
        outcomes?.timer = context.eventLoop.scheduleTask(deadline: next) {
            bound.value.outcomes?.timerTime = nil
            bound.value.finishCycle()
        }
    }
}
