package import Holdfast
internal import HoldfastHTTP2
package import HoldfastOpenSSL
package import HoldfastTransport
internal import NIOCore

/// One connection to a push service, and one request on it that reaches no device: it proves that the service takes the
/// credentials.
package struct ServiceProbe<Dialect: RequestDialect>: Sendable
where Dialect.Batch == HandOut, Dialect.Result == SendResult {
    private let dialer: Dialer
    private let settings: RequestSettings
    private let clock: EngineClock
    private let makeDialect: @Sendable () -> Dialect

    package init(
        _ dialer: Dialer, _ settings: RequestSettings, clock: EngineClock,
        dialect: @escaping @Sendable () -> Dialect
    ) {
        var settings = settings
        // The header fields are wanted, whatever the answer.
        settings.decodesSuccesses = true
        (self.dialer, self.settings, self.clock, makeDialect) = (dialer, settings, clock, dialect)
    }

    /// Connects, and asks.
    ///
    /// - Parameter notification: the request, without a time; `nil` asks for nothing, and only connects.
    package func run(_ notification: PushNotification?) async -> ProbeReport {
        let watch = Monitor(ProbeReport())
        var dialer = dialer
        dialer.seen = { chain in watch.withLock { $0.chain = chain } }
        let answers = AsyncStream<Answer>.makeStream()
        let sink = ConnectionSink { event in
            switch event {
            case .results(let results): for item in results { answers.continuation.yield(.result(item.result)) }
            case .ended(let end): answers.continuation.yield(.ended(end.cause))
            default: break
            }
        }
        let start = ContinuousClock.now
        do throws(ConnectError) {
            let connection = try await connect(dialer, sink, watch)
            watch.withLock { $0.connectTime = ContinuousClock.now - start }
            if let notification { await ask(connection, notification, answers.stream, watch) }
            connection.close(deadline: .zero)
        } catch {
            watch.withLock { $0.failure = error }
        }
        answers.continuation.finish()
        return watch.withLock { $0 }
    }

    private enum Answer: Sendable {
        case result(SendResult)
        case ended(String?)
    }

    private func connect(
        _ dialer: Dialer, _ sink: ConnectionSink, _ watch: Monitor<ProbeReport>
    ) async throws(ConnectError) -> RequestConnection<DatedDialect<Dialect>> {
        try await dialer.connect(on: Dialer.nextLoop()) {
            [settings, clock, makeDialect]
            (channel, dialed, ready: EventLoopPromise<RequestConnection<DatedDialect<Dialect>>>) in
            let dialect = DatedDialect(makeDialect()) { date in
                watch.withLock { report in
                    report.serviceTime = date
                    report.ownTime = clock.wall()
                }
            }
            try RequestConnection(dialect, settings, over: channel, to: dialed, sink: sink, ready: ready)
        }
    }

    private func ask(
        _ connection: any Connection, _ notification: PushNotification, _ answers: AsyncStream<Answer>,
        _ watch: Monitor<ProbeReport>
    ) async {
        let start = ContinuousClock.now
        connection.send(request(notification))
        for await answer in answers {
            switch answer {
            // A provider token that is called expired: asked once more, with another.
            case .result(let result) where result.verdict == .neverProcessed(.newProviderToken):
                connection.send(request(notification, ticket: 2))
            case .result(let result):
                watch.withLock { report in
                    (report.answer, report.answerTime) = (result, ContinuousClock.now - start)
                }
                return
            case .ended(let cause):
                let words = cause ?? "the service closed the connection"
                watch.withLock { $0.failure = ConnectError(.temporary, "no answer came: \(words)") }
                return
            }
        }
    }

    private func request(_ notification: PushNotification, ticket: UInt64 = 1) -> HandOut {
        var bytes: [UInt8] = []
        PackedNotification.append(
            notification, id: NotificationID(), expiration: .once, acceptedAt: clock.wall(), producer: "doctor",
            to: &bytes)
        let item = EntryBatch.Item(uid: UID(1), attempts: 0, range: bytes.indices)
        return HandOut(entries: EntryBatch(bytes: bytes, items: [item]), tickets: [Ticket(rawValue: ticket)])
    }
}

/// What came of a ``ServiceProbe``.
package struct ProbeReport: Sendable {
    /// The certificates that the service has shown, its own first; empty where none was seen.
    package var chain: [Certificate] = []
    /// The time until the connection could be used: name, TCP, TLS and the first SETTINGS.
    package var connectTime: Duration?
    /// Why there is no connection, or no answer.
    package var failure: ConnectError?
    /// The service's answer; `nil` where nothing was asked.
    package var answer: SendResult?
    package var answerTime: Duration?
    /// The answer's `Date`; `nil` where it has none.
    package var serviceTime: WallTime?
    /// This machine's time when the answer came.
    package var ownTime: WallTime?

    package init() {}
}

/// A dialect with an ear for the service's `Date`.
struct DatedDialect<Base: RequestDialect>: RequestDialect {
    typealias Batch = Base.Batch
    typealias Result = Base.Result

    private var base: Base
    private let dated: @Sendable (WallTime?) -> Void

    init(_ base: Base, dated: @escaping @Sendable (WallTime?) -> Void) { (self.base, self.dated) = (base, dated) }

    var startsAlone: Bool { base.startsAlone }

    mutating func authorize(at now: Moment) throws(ConnectError) { try base.authorize(at: now) }

    mutating func setHeaderTableSize(_ size: Int) { base.setHeaderTableSize(size) }

    mutating func write(_ batch: borrowing Batch, from first: Int, to writer: inout RequestWriter) -> Int {
        base.write(batch, from: first, to: &writer)
    }

    mutating func confirmed(_ tickets: [Ticket]) { base.confirmed(tickets) }

    mutating func judge(
        _ response: HTTP2Response, to ticket: Ticket, at now: Moment, isRetired: Bool
    ) -> AnswerVerdict<Result> {
        dated(response.headers.first(name: "date").flatMap { HTTPDate($0)?.time })
        return base.judge(response, to: ticket, at: now, isRetired: isRetired)
    }

    mutating func judge(_ goAway: HTTP2GoAway, at now: Moment, isRetired: Bool) -> GoAwayVerdict<Result> {
        base.judge(goAway, at: now, isRetired: isRetired)
    }

    mutating func finishReading(open: () -> [Ticket]) { base.finishReading(open: open) }
}
