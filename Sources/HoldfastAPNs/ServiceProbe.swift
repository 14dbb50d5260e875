package import Holdfast
internal import HoldfastHTTP2
package import HoldfastOpenSSL
internal import HoldfastRequests
internal import HoldfastTransport
internal import NIOCore

/// One connection to a push service, and one request on it that reaches no device: it proves that the service takes the
/// credentials.
///
/// The request is a background notification to a token of 32 zero bytes, which no device has, to be stored for nobody. A
/// service answers that the token is bad, once it has found the credentials good.
package struct ServiceProbe: Sendable {
    /// What came of it.
    package struct Report: Sendable {
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

    let configuration: APNsConnector.Configuration
    private let credentials: Credentials

    /// Reads the files of credentials and trusted certificates.
    ///
    /// - Throws: ``APNsConfigurationError`` that names the file that is missing or invalid.
    package init(_ configuration: APNsConnector.Configuration) throws(APNsConfigurationError) {
        try configuration.checkNetwork()
        self.configuration = configuration
        credentials = try Credentials(configuration, generation: 1)
    }

    /// The facts in the client certificate; `nil` without one.
    package var certificate: CertificateFacts? { credentials.tls.certificate?.facts }

    /// The provider tokens; `nil` without a signing key. A token of the service's process that is restored here is used, and
    /// none is minted: the service counts new ones.
    package var tokens: ProviderTokenSource? { credentials.tokens }

    /// - Parameter topic: of the request; `nil` asks for nothing, and only connects.
    package func run(topic: String?) async -> Report {
        let watch = Monitor(Report())
        var dialer = configuration.dialer(credentials)
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
            if let topic { await ask(connection, topic, answers.stream, watch) }
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
        _ dialer: Dialer, _ sink: ConnectionSink, _ watch: Monitor<Report>
    ) async throws(ConnectError) -> RequestConnection<ProbeDialect> {
        let (endpoint, tokens, clock) = (configuration.endpoint, credentials.tokens, configuration.clock)
        var settings = configuration.requests
        settings.decodesSuccesses = true
        return try await dialer.connect(on: Dialer.nextLoop()) {
            [settings] (channel, dialed, ready: EventLoopPromise<RequestConnection<ProbeDialect>>) in
            let dialect = ProbeDialect(APNsDialect(endpoint, tokens: tokens)) { date in
                watch.withLock { report in
                    report.serviceTime = date
                    report.ownTime = clock.wall()
                }
            }
            try RequestConnection(dialect, settings, over: channel, to: dialed, sink: sink, ready: ready)
        }
    }

    private func ask(
        _ connection: any Connection, _ topic: String, _ answers: AsyncStream<Answer>, _ watch: Monitor<Report>
    ) async {
        let start = ContinuousClock.now
        connection.send(Self.request(topic, at: configuration.clock.wall()))
        for await answer in answers {
            switch answer {
            // A provider token that is called expired: asked once more, with another.
            case .result(let result) where result.verdict == .neverProcessed(.newProviderToken):
                connection.send(Self.request(topic, at: configuration.clock.wall(), ticket: 2))
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

    private static func request(_ topic: String, at now: WallTime, ticket: UInt64 = 1) -> HandOut {
        var bytes: [UInt8] = []
        let notification = PushNotification(
            token: DeviceToken.ofNobody, topic: topic, payload: Array(#"{"aps":{"content-available":1}}"#.utf8),
            pushType: .background, priority: .considerate)
        PackedNotification.append(
            notification, id: NotificationID(), expiration: .once, acceptedAt: now, producer: "doctor", to: &bytes)
        let item = EntryBatch.Item(uid: UID(1), attempts: 0, range: bytes.indices)
        return HandOut(entries: EntryBatch(bytes: bytes, items: [item]), tickets: [Ticket(rawValue: ticket)])
    }
}

/// Apple's dialect, with an ear for the service's `Date`.
struct ProbeDialect: RequestDialect {
    typealias Batch = HandOut
    typealias Result = SendResult

    private var base: APNsDialect
    private let dated: @Sendable (WallTime?) -> Void

    init(_ base: APNsDialect, dated: @escaping @Sendable (WallTime?) -> Void) {
        (self.base, self.dated) = (base, dated)
    }

    var startsAlone: Bool { base.startsAlone }

    mutating func authorize(at now: Moment) throws(ConnectError) { try base.authorize(at: now) }

    mutating func setHeaderTableSize(_ size: Int) { base.setHeaderTableSize(size) }

    mutating func write(_ handOut: borrowing HandOut, from first: Int, to writer: inout RequestWriter) -> Int {
        base.write(handOut, from: first, to: &writer)
    }

    mutating func confirmed(_ tickets: [Ticket]) { base.confirmed(tickets) }

    mutating func judge(
        _ response: HTTP2Response, to ticket: Ticket, at now: Moment, isRetired: Bool
    ) -> AnswerVerdict<SendResult> {
        dated(response.headers.first(name: "date").flatMap { HTTPDate($0)?.time })
        return base.judge(response, to: ticket, at: now, isRetired: isRetired)
    }

    mutating func judge(_ goAway: HTTP2GoAway, at now: Moment, isRetired: Bool) -> GoAwayVerdict<SendResult> {
        base.judge(goAway, at: now, isRetired: isRetired)
    }

    mutating func finishReading(open: () -> [Ticket]) { base.finishReading(open: open) }
}
