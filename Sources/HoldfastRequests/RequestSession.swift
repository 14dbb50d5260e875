package import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport
package import NIOCore

/// The sender's end of one connection to an HTTP/2 service, as a pure machine: bytes, requests and moments in; bytes and
/// ``RequestAction``s out. No channel, no clock, no dice.
///
/// Its driver (``RequestHandler``, a test) does this, and nothing else:
/// - call ``begin(at:)`` when there is somebody to talk to;
/// - give every byte that arrives to ``receive(_:)``, and call ``finishReading(at:)`` behind the last of one read, then
///   ``pump(at:)``;
/// - hand over what is to be sent with ``enqueue(_:)`` before each call, and call ``pump(at:)`` where there is no other;
/// - call ``look(at:)`` at ``nextLook``;
/// - behind each call perform the actions of ``takeActions()`` and write the output.
///
/// Each ticket that was handed over is reported exactly once: by a result, or by the end.
package struct RequestSession<Dialect: RequestDialect> {
    package typealias Action = RequestAction<Dialect.Result>

    /// The phase of the connection's life.
    enum Phase {
        /// The service's SETTINGS have not come yet.
        case opening
        case open
        /// Nothing new goes out; what is open may still be answered.
        case draining(cause: String?)
        case ended
    }

    let settings: RequestSettings
    var writer: RequestWriter
    var events = HTTP2ClientEvents()
    var phase = Phase.opening
    /// The number of requests that the service works on at a time, by its SETTINGS.
    var allowedStreams = 1
    /// The credentials that the connection was opened with have been replaced.
    var isRetired = false
    /// Whether the channel takes more bytes.
    var isWritable = true
    var liveness: LivenessClock
    var answers: AnswerRecord
    var idle: IdleClock
    /// When a request was started last, or could not have been for want of one.
    var lastStart: Duration
    /// When the clocks are looked at. Nil before the beginning.
    var nextTick: Duration?
    /// The time by which it must be over.
    var endBy: Duration?
    // Behind the others: where these lie depends on the dialect.
    var dialect: Dialect
    var queue = BatchQueue<Dialect.Batch>()
    var actions: [Action] = []

    var http: HTTP2ClientSession {
        _read { yield writer.http }
        _modify { yield &writer.http }
    }

    /// The interval between looks at the clocks.
    static var tickInterval: Duration { .seconds(1) }

    /// A session for a connection that is about to be made.
    package init(_ dialect: Dialect, _ settings: RequestSettings, at now: Moment) {
        self.dialect = dialect
        self.settings = settings
        var limits = HTTP2Limits.client
        limits.maxConcurrentStreams = settings.maximumStreams
        limits.maxBodySize = settings.maximumBody
        let http = HTTP2ClientSession(
            limits: limits, decodesSuccesses: settings.decodesSuccesses, firstStreamID: settings.firstStreamID)
        writer = RequestWriter(http, isProven: !dialect.startsAlone)
        liveness = LivenessClock(
            sendDeadline: settings.sendDeadline, pingAfter: settings.pingAfter, pingDeadline: settings.pingDeadline)
        answers = AnswerRecord(sendDeadline: settings.sendDeadline, now: now.monotonic)
        idle = IdleClock(limit: settings.idleClose, now: now.monotonic)
        lastStart = now.monotonic
    }

    // MARK: What it wants

    /// Takes the actions to perform, in order.
    package mutating func takeActions() -> [Action] {
        guard !actions.isEmpty else { return [] }
        var taken: [Action] = []
        swap(&taken, &actions)
        return taken
    }

    /// Whether there are bytes to write.
    package var hasOutput: Bool { http.hasOutput }

    package var outputCount: Int { http.output.count }

    /// Appends the bytes to write to `buffer`.
    package mutating func drainOutput(into buffer: inout ByteBuffer) { http.drainOutput(into: &buffer) }

    /// When ``look(at:)`` is to be called; nil for never. Behind a look it is later than that look.
    package var nextLook: Duration? {
        if case .ended = phase { return nil }
        guard let nextTick else { return endBy }
        var next = liveness.nextDeadline.map { min($0, nextTick) } ?? nextTick
        if let endBy { next = min(next, endBy) }
        return next
    }

    // MARK: What happens to it

    /// The channel is open: there is somebody to talk to.
    package mutating func begin(at now: Moment) {
        guard nextTick == nil else { return }
        nextTick = now.monotonic + Self.tickInterval
        liveness.start(at: now.monotonic)
    }

    /// Bytes have arrived, split anywhere. What they mean is told by ``finishReading(at:)``.
    package mutating func receive(_ bytes: Span<UInt8>) {
        if case .ended = phase { return }
        writer.http.receive(bytes, events: &events)
    }

    /// Everything that there was to read has been given to ``receive(_:)``.
    package mutating func finishReading(at now: Moment) {
        if case .ended = phase { return }
        liveness.heard(at: now.monotonic)
        report(at: now)
    }

    /// Requests were handed over.
    package mutating func enqueue(_ batches: [Dialect.Batch]) {
        // The end has answered for what comes too late.
        if case .ended = phase { return }
        queue.append(batches)
    }

    /// The channel takes more bytes, or it takes no more for now.
    package mutating func setWritable(_ isWritable: Bool) { self.isWritable = isWritable }

    /// The connection is over: by the peer, or by an error of the channel.
    package mutating func lose(_ cause: String, at now: Moment) { end(cause, at: now) }

    /// The peer can't be talked to.
    package mutating func fail(_ error: ConnectError, at now: Moment) {
        if case .opening = phase {
            phase = .ended
            actions += [.close, .failed(error)]
        } else {
            end(error.message, at: now)
        }
    }

    package mutating func fail(_ message: String, kind: ConnectError.Kind, at now: Moment) {
        fail(ConnectError(kind, message), at: now)
    }
}
