package import NIOCore

/// The client's end of an HTTP/2 connection as a pure machine: bytes in, events and bytes out. No clock, no I/O.
///
/// The driver (a channel handler, a test) does this, and nothing else:
/// - write ``output`` whenever it may, starting with the preface of a new session;
/// - give every byte that arrives to ``receive(_:events:)``, look at the events, write the output again;
/// - after ``HTTP2ClientEvents/Event/connectionError(_:)``, or when ``failure`` is set: write the output and close.
///
/// One cycle of reading makes many requests and answers, so nothing here allocates for each of them. A copy of a
/// session would be a second, false view of the connection: keep one.
package struct HTTP2ClientSession: Sendable, HTTP2Session {
    var connection: HTTP2Connection
    var streams: StreamRing<ClientStream>
    var responses = Slab<PartialResponse>()
    var nextStreamID: UInt32
    /// The smallest last stream of the peer's GOAWAYs.
    var lastStreamOfGoAway: UInt32?
    private var isLeaving = false
    /// The streams that the peer and the limits allow at once.
    var streamLimit: Int
    let decodesSuccesses: Bool

    /// A connection that has just been opened. ``output`` begins with the preface and SETTINGS.
    ///
    /// - Parameter decodesSuccesses: report answers with status 200 as responses with their header fields, instead of
    ///   by their tags alone in ``HTTP2ClientEvents/succeeded``. Costs some 2 µs for each.
    package init(limits: HTTP2Limits = .client, decodesSuccesses: Bool = false) {
        self.init(limits: limits, decodesSuccesses: decodesSuccesses, firstStreamID: 1)
    }

    /// - Parameter firstStreamID: odd; for tests of exhausted stream numbers.
    package init(limits: HTTP2Limits, decodesSuccesses: Bool = false, firstStreamID: UInt32) {
        connection = HTTP2Connection(.client, limits: limits)
        streams = StreamRing(capacity: 256, maxCapacity: max(256, 4 * min(limits.maxConcurrentStreams, 1 << 20)))
        nextStreamID = firstStreamID
        streamLimit = min(limits.maxConcurrentStreams, limits.streamsBeforeSettings)
        self.decodesSuccesses = decodesSuccesses
        var settings = HTTP2Settings()
        settings.headerTableSize = 0
        settings.initialWindowSize = min(max(0, limits.streamReceiveWindow), FlowWindow.greatest)
        connection.output.append(contentsOf: Self.preface)
        connection.announce(
            settings,
            [
                (SettingsParameter.headerTableSize, 0), (SettingsParameter.enablePush, 0),
                (SettingsParameter.maxConcurrentStreams, 100),
                (SettingsParameter.initialWindowSize, settings.initialWindowSize),
                (SettingsParameter.maxHeaderListSize, limits.maxHeaderBlock),
            ])
        connection.openReceiveWindow()
    }

    /// The first bytes of a client (RFC 9113 §3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    // MARK: Bytes for the peer

    /// Bytes to write, in order. The driver takes them with ``takeOutput()`` or ``drainOutput(into:)``.
    package var output: [UInt8] { connection.output }

    /// Whether there is anything to write.
    package var hasOutput: Bool { !connection.output.isEmpty }

    /// Takes the bytes to write, and their memory with them.
    package mutating func takeOutput() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &connection.output)
        return taken
    }

    /// Appends the bytes to write to `buffer`, and keeps the memory for the next cycle.
    package mutating func drainOutput(into buffer: inout ByteBuffer) {
        buffer.writeBytes(connection.output)
        connection.output.removeAll(keepingCapacity: true)
    }

    // MARK: State

    /// The number of requests that may start now. 0 once the peer or we have sent GOAWAY, after a connection error, and
    /// when the stream numbers have run out; then no request will ever start here again, see ``isFinished``. Until the
    /// peer's SETTINGS arrive, ``HTTP2Limits/streamsBeforeSettings`` applies.
    package var availableStreams: Int {
        if isFinished { return 0 }
        return max(
            0, min(streamLimit &- streams.count, Int((HTTP2ClientSession.lastStreamID &- nextStreamID) / 2) &+ 1))
    }

    /// Whether no request will ever start here again, so that a new connection is needed. Open requests may still be
    /// answered, unless ``failure`` is set.
    package var isFinished: Bool {
        connection.failure != nil || lastStreamOfGoAway != nil || isLeaving || isExhausted
    }

    /// The stream numbers of this connection have run out.
    package var isExhausted: Bool { nextStreamID > HTTP2ClientSession.lastStreamID }

    /// Requests without an answer.
    package var openStreams: Int { streams.count }

    /// The tags of the requests without an answer, in the order they were started.
    package var openTags: [UInt64] { streams.openSlots().map { streams[$0].tag } }

    /// Whether the peer's SETTINGS have arrived.
    package var hasPeerSettings: Bool { connection.hasPeerSettings }

    /// The most streams that the peer takes at once; nil when it named no limit.
    package var peerMaxConcurrentStreams: Int? { connection.peer.maxConcurrentStreams }

    /// The size that the peer allows the dynamic table of our header blocks. 4096 until it says otherwise; changes are
    /// reported as events.
    package var peerHeaderTableSize: Int { connection.peer.headerTableSize }

    /// The greatest header list the peer says it takes, if it says.
    package var peerMaxHeaderListSize: Int? { connection.peer.maxHeaderListSize }

    /// Bytes of bodies that wait for the peer's flow-control windows.
    package var heldBack: Int { connection.held.byteCount }

    /// Bytes kept at the moment, for messages and frames in either direction: at most ``HTTP2Limits/greatestHeld(chunk:body:)``.
    package var heldBytes: Int { connection.heldBytes }

    /// The connection error that ended the session, if one did.
    package var failure: HTTP2Error? { connection.failure }

    static let lastStreamID: UInt32 = 0x7fff_ffff

    // MARK: Driving

    /// Sends PING; the answer is an event with the same `opaque`.
    package mutating func ping(_ opaque: UInt64) {
        guard connection.failure == nil else { return }
        connection.pingsOutstanding += 1
        connection.output.appendPing(opaque, isAck: false)
    }

    /// Sends GOAWAY. No request starts any more; open ones may still be answered.
    package mutating func goAway(_ code: HTTP2ErrorCode = .noError) {
        guard connection.failure == nil else { return }
        isLeaving = true
        connection.output.appendGoAway(lastStreamID: 0, code: code, debugData: EmptyCollection())
    }

    /// Grants the peer a new budget of frames that move nothing (``HTTP2Limits/maxIdleFrames``). The driver calls it at
    /// long intervals, a minute say, so that a connection may be idle for days.
    package mutating func renewFrameBudget() { connection.budget.renew() }

    /// Takes bytes that arrived, split anywhere. Adds their events to `events`.
    package mutating func receive(_ bytes: Span<UInt8>, events: inout HTTP2ClientEvents) {
        guard connection.failure == nil else { return }
        receiveFrames(bytes, from: 0, &events)
    }
}
