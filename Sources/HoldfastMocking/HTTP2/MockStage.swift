package import HoldfastHTTP2
internal import NIOCore

/// One connection's HTTP/2, and what happens on it: answers now and later, effects of a script, its end.
///
/// A value. It writes to no socket: ``MockConnection`` does, at the end of each read.
package struct MockStage {
    package var session: HTTP2ServerSession
    package var delayed = DelayedAnswers()
    /// Requests on streams above this one are not looked at.
    package var lastStreamID = UInt32.max
    package var firstStream: FirstStreamGuard
    /// Whether the client's first SETTINGS have arrived.
    package private(set) var isOpen = false
    /// The client's HPACK decoder waits for a size update (RFC 7541 section 4.2).
    package private(set) var owesSizeUpdate = false

    private var events = HTTP2ServerEvents()
    /// The streams to announce behind the first success; nil where they have been.
    private var streamsBehindFirst: Int?
    /// Whether PING is not answered any more.
    private var ignoresPings: Bool
    /// The end of the connection, behind the answers given so far.
    private var end: End?
    /// Effects on the connection that are still to come; its driver times them.
    private var laterEffects: [MockEffect] = []
    /// Streams that will never be answered, and do not keep the connection from being drained.
    private var silenced: Set<UInt32> = []
    private var isDraining = false
    /// nil where streams beyond the limit are refused.
    private var streamLimit: MockStreamLimit?
    private var protocolErrors = 0
    private var excesses = 0

    /// The most bytes of a body that are read. A longer body is refused before all of it has come (RFC 9113 section
    /// 8.1), which not every client handles well: curl 7.88 stops sending and waits. A payload that is merely too large
    /// is read whole.
    private static let bodyLimit = 65536

    /// The end of a connection.
    package enum End {
        /// Closed behind the session's output.
        case closed
        /// Reset, behind the session's output.
        case reset
        /// Kept open; arriving bytes are thrown away.
        case ignored
        /// Kept open; nothing is read any more.
        case unread
    }

    /// - Parameters:
    ///   - names: the header fields that the service reads.
    ///   - streams: the limit on streams at a time, where the plan gives no other.
    ///   - streamsBehindFirst: announced behind the first success, before which one stream is allowed; nil for no such rule.
    ///   - streamLimit: ends a connection with too many streams at a time; nil refuses the streams.
    package init(
        names: HeaderNames, streams: Int, plan: MockConnectionPlan,
        firstStream: FirstStreamGuard = FirstStreamGuard(isActive: false), streamsBehindFirst: Int? = nil,
        streamLimit: MockStreamLimit? = nil
    ) {
        self.firstStream = firstStream
        self.streamsBehindFirst = streamsBehindFirst
        ignoresPings = !plan.answersPings
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = streamsBehindFirst == nil ? plan.maxConcurrentStreams ?? streams : 1
        limits.maxBodySize = Self.bodyLimit
        session = HTTP2ServerSession(limits: limits, names: names)
        self.streamLimit = streamLimit
        guard let hidden = streamLimit?.hiddenCount, hidden < limits.maxConcurrentStreams else { return }
        // A limit applies from the change on, and the client is not told of this one.
        let greeting = session.output
        session.changeSettings(maxConcurrentStreams: hidden)
        session.output = greeting
    }

    // MARK: Bytes

    /// Takes bytes, split anywhere.
    ///
    /// - Returns: what they brought, to be given to ``putBack(_:)`` behind the work; nil for nothing.
    package mutating func receive(_ bytes: Span<UInt8>) -> HTTP2ServerEvents? {
        firstStream.beginCycle()
        let written = session.output.count
        session.receive(bytes, events: &events)
        if let streamLimit, !isDraining, let first = session.output.removeRefusals(from: written) {
            excesses += 1
            var goAway = streamLimit.goAway
            goAway.lastStreamID = first - 2
            drain(goAway)
        }
        if ignoresPings { session.output.removePongs() }
        guard !events.isEmpty else { return nil }
        var taken = HTTP2ServerEvents()
        swap(&taken, &events)
        for event in taken.others { take(event) }
        return taken
    }

    /// Takes back the memory of events that have been worked on.
    package mutating func putBack(_ taken: consuming HTTP2ServerEvents) {
        taken.removeAll()
        events = taken
    }

    private mutating func take(_ event: HTTP2ServerEvents.Event) {
        switch event {
        case .settingsChanged(let headerTableSize):
            if headerTableSize < 4096 { owesSizeUpdate = true }
            isOpen = true
        case .connectionError:
            protocolErrors += 1
            end = .closed
        case .reset(let streamID, _, _):
            silenced.remove(streamID)
        case .goAway, .settingsAcknowledged, .pong:
            break
        }
    }

    /// The violations of HTTP/2 since the last call.
    package mutating func takeProtocolErrors() -> Int {
        defer { protocolErrors = 0 }
        return protocolErrors
    }

    /// The ends for too many streams at a time since the last call.
    package mutating func takeExcesses() -> Int {
        defer { excesses = 0 }
        return excesses
    }

    // MARK: Answers

    /// Gives an answer now, or after its delay.
    package mutating func give(_ answer: PreparedAnswer, after delay: Duration) {
        if delay > .zero { delayed.insert(answer, after: delay, now: .now()) } else { give(answer) }
    }

    /// Gives the answers of a bucket whose time has come.
    package mutating func giveDelayed(_ key: Int64) {
        for answer in delayed.remove(key) where end == nil { give(answer) }
    }

    private mutating func give(_ answer: PreparedAnswer) {
        if let (head, parts) = answer.parts() { return give(parts, behind: head, of: answer) }
        answer.write(to: &session, owesSizeUpdate: &owesSizeUpdate)
        switch answer.content {
        case .silence: if session.isOpen(answer.streamID) { silenced.insert(answer.streamID) }
        case .body(_, isLast: false): return
        case .body, .response, .reset: noteAnswer(answer.streamID, isSuccess: answer.isSuccess)
        }
        for effect in answer.effects { happen(effect) }
    }

    private mutating func give(_ parts: [PreparedAnswer], behind head: [UInt8], of answer: PreparedAnswer) {
        let block = owesSizeUpdate ? [0x20] + head : head
        guard session.sendHeaders(streamID: answer.streamID, headerBlock: block, endStream: false) else { return }
        owesSizeUpdate = false
        for (index, part) in parts.enumerated() {
            delayed.insert(part, after: answer.bodyPause * (index + 1), now: .now())
        }
    }

    /// Notes an answer; the first success lifts the limit of one stream.
    package mutating func noteAnswer(_ streamID: UInt32, isSuccess: Bool) {
        firstStream.answered(streamID, withSuccess: isSuccess)
        guard isSuccess, let streams = streamsBehindFirst else { return }
        streamsBehindFirst = nil
        session.changeSettings(maxConcurrentStreams: streams)
    }

    /// From now on, however late the answer on this stream: later requests are ignored. A GOAWAY may name a later one.
    package mutating func setLast(_ effects: [MockEffect], _ streamID: UInt32) {
        for effect in effects {
            guard let last = effect.lastStreamID else { continue }
            lastStreamID = min(lastStreamID, last == 0 ? streamID : last)
        }
    }

    // MARK: Effects

    /// Carries out an effect on the connection, now or after its delay.
    package mutating func happen(_ effect: MockEffect) {
        guard effect.delay == .zero else { return laterEffects.append(effect) }
        guard end == nil else { return }
        switch effect.kind {
        case .streams(let count):
            // A client may not have heard of it yet: what is too many is refused.
            streamLimit = nil
            session.changeSettings(maxConcurrentStreams: max(0, count))
        case .goAway(let goAway):
            announce(goAway)
            if !goAway.isWarning { isDraining = true }
        case .close: end = .closed
        case .reset: end = .reset
        case .stall: end = .ignored
        case .stopReading: end = .unread
        case .ignorePings: ignoresPings = true
        }
    }

    /// The delayed effects, each returned once.
    mutating func takeLaterEffects() -> [MockEffect] {
        var taken: [MockEffect] = []
        swap(&taken, &laterEffects)
        return taken
    }

    /// Sends GOAWAY. Requests before it are answered; then the connection ends.
    mutating func drain(_ goAway: MockGoAway) {
        guard !isDraining else { return }
        isDraining = true
        announce(goAway)
    }

    /// The end of the connection behind the session's output; nil when it goes on.
    func finish() -> End? {
        if let end { return end }
        return isDraining && delayed.isEmpty && silenced.count >= session.openStreams ? .closed : nil
    }

    private mutating func announce(_ goAway: MockGoAway) {
        session.goAway(
            lastStreamID: goAway.lastStreamID, code: HTTP2ErrorCode(rawValue: goAway.code),
            debugData: Array(goAway.debugData.utf8))
        if let last = goAway.lastStreamID { lastStreamID = min(lastStreamID, last) }
    }
}
