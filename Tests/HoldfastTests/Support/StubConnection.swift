@testable import Holdfast

/// A connector whose connections do what a test says. The ``Bench`` makes them.
final class StubConnector: Connector {
    let confirmationMode: ConfirmationMode
    let endpoint: String
    /// The topics that its credentials are good for; nil for all.
    let topics = Monitor<Set<String>?>(nil)
    /// What the engine gave it.
    let host = Monitor<ConnectorHost?>(nil)

    /// The limits of a service that is not Apple's; nil for Apple's.
    let service = Monitor<NotificationLimits?>(nil)

    var limits: NotificationLimits {
        if let service = service.withLock({ $0 }) { return service }
        var limits: NotificationLimits = confirmationMode == .perNotification ? .http2 : .devices
        limits.topics = topics.withLock { $0 }
        return limits
    }

    func begin(_ host: ConnectorHost) { self.host.withLock { $0 = host } }

    init(_ mode: ConfirmationMode, endpoint: String = "stub") {
        confirmationMode = mode
        self.endpoint = endpoint
    }

    func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        throw ConnectError(.temporary, "the bench makes the connections")
    }
}

/// A connection that remembers what it was given, in the order of the calls, and says what the test has it say.
final class StubConnection: CumulativeConnection {
    enum Call: Hashable, Sendable {
        case send([Int])
        case listen(UInt64)
        case barrier
        case close
    }

    struct Sent: Sendable {
        let ticket: Ticket
        let uid: UID
        let notification: PushNotification
    }

    struct State: Sendable {
        var calls: [Call] = []
        var sent: [Sent] = []
        /// How many of them ``takeNew()`` has returned.
        var taken = 0
        var hasEnded = false
        /// What it answers at once; nil leaves it unanswered.
        var answer: @Sendable (PushNotification) -> SendResult? = { _ in nil }
        /// Whether it answers ``listen(stamp:)`` at once, and says that what it is given has left at once.
        var isPrompt = true
        /// Whether it ends when it is closed.
        var endsWhenClosed = true
        /// Done after the first hand-out.
        var onSend: (@Sendable () -> Void)?
    }

    let number: Int
    let sink: ConnectionSink
    /// The most entries that it ever takes at a time.
    let greatestCapacity: Int
    let isCumulative: Bool
    let canWriteBarrier: Bool
    /// Of its connector, where a test tells several apart.
    let endpoint: String
    let state = Monitor(State())
    /// How many entries the service works on at a time; nil for all that the connection takes.
    let streamLimit = Monitor<Int?>(nil)
    /// How many entries it takes at a time; nil for all that it ever takes.
    let capacityLimit = Monitor<Int?>(nil)
    /// Whether barriers are answered at once.
    let answersBarriers = Monitor(false)
    /// Whether it takes nothing more, and ends, as soon as it has answered what it was given.
    let bidsFarewell = Monitor(false)
    /// After so many entries it takes nothing more, answers, and ends; nil for never.
    let goesAway = Monitor<Int?>(nil)

    var capacity: Int { capacityLimit.withLock { $0 } ?? greatestCapacity }

    var streams: Int { streamLimit.withLock { $0 } ?? capacity }

    init(
        number: Int, sink: ConnectionSink, capacity: Int, isCumulative: Bool, canWriteBarrier: Bool,
        endpoint: String = "stub"
    ) {
        self.number = number
        self.sink = sink
        greatestCapacity = capacity
        self.isCumulative = isCumulative
        self.canWriteBarrier = canWriteBarrier
        self.endpoint = endpoint
    }

    var sent: [Sent] { state.withLock(\.sent) }
    var calls: [Call] { state.withLock(\.calls) }
    /// The numbers of the notifications that it was given, in order.
    var numbers: [Int] { sent.map { Sample.number(of: $0.notification) } }
    var barrierCount: Int { calls.count { $0 == .barrier } }
    var isClosed: Bool { calls.contains(.close) }
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// What it was given since the last call.
    func takeNew() -> ArraySlice<Sent> {
        state.withLock { state in
            defer { state.taken = state.sent.count }
            return state.sent[state.taken...]
        }
    }

    /// Whether there is anything that ``takeNew()`` has not returned.
    var hasNew: Bool { state.withLock { $0.taken < $0.sent.count } }

    func send(_ handOut: HandOut) {
        var new: [Sent] = []
        for (index, item) in handOut.entries.items.enumerated() {
            do throws(PackedNotification.Damage) {
                let notification = try handOut.entries.notification(at: index)
                new.append(Sent(ticket: handOut.tickets[index], uid: item.uid, notification: notification))
            } catch {
                preconditionFailure("entry \(item.uid) can't be read: \(error)")
            }
        }
        let batch = new
        let (answer, isPrompt) = state.withLock { state in
            state.sent += batch
            state.calls.append(.send(batch.map { Sample.number(of: $0.notification) }))
            return (state.answer, state.isPrompt)
        }
        if isCumulative, isPrompt, let last = new.last { sink(.sent(through: last.ticket)) }
        let onSend = state.withLock { state in
            defer { state.onSend = nil }
            return state.onSend
        }
        onSend?()
        var confirmed: [Ticket] = []
        var results: [(ticket: Ticket, result: SendResult)] = []
        for entry in new {
            guard let result = answer(entry.notification) else { continue }
            if result == .confirmed { confirmed.append(entry.ticket) } else { results.append((entry.ticket, result)) }
        }
        if !confirmed.isEmpty { sink(.confirmed(confirmed)) }
        if !results.isEmpty { sink(.results(results)) }
        if bidsFarewell.withLock({ $0 }), !hasEnded {
            sink(.draining)
            end(possiblySent: [], cause: "the service asks for a new connection")
        }
        if let limit = goesAway.withLock({ $0 }), sent.count >= limit, !hasEnded {
            sink(.draining)
            end(possiblySent: [], cause: "GOAWAY")
        }
    }

    func listen(stamp: UInt64) {
        let isPrompt = state.withLock { state in
            state.calls.append(.listen(stamp))
            return state.isPrompt
        }
        if isPrompt { sink(.listened(stamp: stamp)) }
    }

    func writeBarrier() {
        state.withLock { $0.calls.append(.barrier) }
        if answersBarriers.withLock({ $0 }) { answerBarrier() }
    }

    func close(deadline: Duration) {
        let ends = state.withLock { state in
            state.calls.append(.close)
            return state.endsWhenClosed
        }
        if ends { end(cause: nil) }
    }

    // MARK: What the service does

    /// Answers the last hand-out of a notification.
    func answer(_ number: Int, _ result: SendResult) {
        guard let entry = sent.last(where: { Sample.number(of: $0.notification) == number }) else {
            preconditionFailure("number \(number) was never sent")
        }
        sink(result == .confirmed ? .confirmed([entry.ticket]) : .results([(entry.ticket, result)]))
    }

    /// Everything that it was given and has not answered is taken.
    func answerAll() { sink(.confirmed(sent.map(\.ticket))) }

    /// Says that nothing but what is named may have been sent; with nil nobody can say.
    func end(possiblySent: [Int]? = nil, cause: String? = "ended by the test") {
        let tickets = possiblySent.map { numbers in
            sent.filter { numbers.contains(Sample.number(of: $0.notification)) }.map(\.ticket)
        }
        guard isFirstEnd() else { return }
        sink(
            .ended(
                isCumulative
                    ? ConnectionEnd(possiblySentThrough: nil, cause: cause)
                    : ConnectionEnd(possiblySent: tickets, cause: cause)))
    }

    /// A GOAWAY and the end: the service has processed none of these.
    func goAway(leaving left: some Sequence<Sent>) {
        sink(.results(left.map { ($0.ticket, SendResult(.neverProcessed(.newConnection))) }))
        sink(.draining)
        end(possiblySent: [], cause: "GOAWAY")
    }

    /// The connection ends; everything behind the position never left.
    func end(possiblySentThrough position: UInt64, cause: String? = "ended by the test") {
        guard isFirstEnd() else { return }
        sink(.ended(ConnectionEnd(possiblySentThrough: .position(position), cause: cause)))
    }

    /// The service names a position, and closes.
    func fail(at position: UInt64, _ kind: PayloadError.Kind, thenEnds: Bool = true) {
        sink(.payloadError(PayloadError(position: .position(position), kind: kind)))
        if thenEnds { end(possiblySentThrough: UInt64(sent.count), cause: "payload error") }
    }

    /// Everything that it was given has left.
    func reportSent() {
        guard let last = sent.last else { return }
        sink(.sent(through: last.ticket))
    }

    func answerBarrier(through position: UInt64? = nil) {
        sink(.barrierAnswered(through: .position(position ?? UInt64(sent.count))))
        end(possiblySentThrough: UInt64(sent.count), cause: nil)
    }

    private func isFirstEnd() -> Bool {
        state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
    }
}
