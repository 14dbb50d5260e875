import HoldfastHTTP2
import NIOCore

/// The protocol logic of one connection: requests in; answers, ledger lines and the connection's end out.
///
/// A value, so that all bytes of one read are processed under a single access to it. It writes to no socket, no file
/// and no shared counter: ``MockConnection`` does, once at the end of each read.
struct MockResponder {
    let service: MockService
    /// The connection's number.
    let number: Int
    /// The address that the client connected to.
    let address: MockAddress
    var session: HTTP2ServerSession
    private var events = HTTP2ServerEvents()

    // State used by MockResponder+Requests.swift.
    var tally = MockCounters()
    /// The ledger lines to be written before the session's output may go out.
    var ledgerLines: [UInt8] = []
    var ledgerLine = LedgerLine()
    /// The exchanges for the observer.
    var exchanges: [MockExchange] = []
    var requestCount = 0
    var behavior: MockBehavior?
    var script: ScriptRunner?
    var firstStream: FirstStreamGuard
    /// Whether the limit of one stream is still announced.
    private var isLimitedToOne: Bool
    /// Whether PING is not answered any more.
    private var ignoresPings: Bool
    /// Unix seconds.
    var now: Int64 = 0
    var id = NotificationIDText()
    /// The header field that carries ``id`` in answers.
    var idName = "apns-id"
    var uniqueID = NotificationIDText()
    var acceptedBlock: [UInt8]
    /// The fields of the last valid request that differed from the one before.
    var knownFields: RequestFields?
    var lastAuthorization: (fields: RequestFields, verdict: ProviderTokenVerifier.Verdict)?
    /// The client's HPACK decoder waits for a size update (RFC 7541 section 4.2).
    var owesSizeUpdate = false
    /// Requests on streams above this one are not looked at.
    var lastStreamID = UInt32.max
    /// The end of the connection, behind the answers given so far.
    private var end: End?
    var delayed = DelayedAnswers()
    /// Effects on the connection that are still to come; its driver times them.
    private var laterEffects: [MockEffect] = []
    /// Streams that will never be answered, and do not keep the connection from being drained.
    private var silenced: Set<UInt32> = []
    private var isDraining = false
    /// Whether the client's first SETTINGS have arrived.
    private(set) var isOpen = false

    /// The most bytes of a body that are read. A longer body is refused before all of it has come (RFC 9113 section
    /// 8.1), which not every client handles well: curl 7.88 stops sending and waits. A payload that is merely too large
    /// is read whole.
    private static let bodyLimit = 65536

    /// The end of a connection.
    enum End {
        /// Closed behind the session's output.
        case closed
        /// Reset, behind the session's output.
        case reset
        /// Kept open; arriving bytes are thrown away.
        case ignored
        /// Kept open; nothing is read any more.
        case unread
    }

    init(service: MockService, number: Int, address: MockAddress, plan: MockConnectionPlan) {
        self.service = service
        self.number = number
        self.address = address
        let rule = service.configuration.firstStreamRule
        firstStream = FirstStreamGuard(rule)
        isLimitedToOne = rule == .announced
        ignoresPings = !plan.answersPings
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams =
            isLimitedToOne ? 1 : plan.maxConcurrentStreams ?? service.configuration.maxConcurrentStreams
        limits.maxBodySize = Self.bodyLimit
        session = HTTP2ServerSession(limits: limits, names: RequestFields.names)
        acceptedBlock = Self.acceptedBlock(withID: service.configuration.echoesNotificationID)
    }

    /// Takes bytes, split anywhere.
    mutating func receive(_ bytes: Span<UInt8>) {
        now = MockService.milliseconds() / 1000
        (behavior, script) = service.overrides.withLock { ($0.behavior, $0.answers) }
        firstStream.beginCycle()
        session.receive(bytes, events: &events)
        if ignoresPings { session.output.removePongs() }
        guard !events.isEmpty else { return }
        var taken = HTTP2ServerEvents()
        swap(&taken, &events)
        for event in taken.others { take(event) }
        for request in taken.requests { handle(request, in: taken) }
        taken.removeAll()
        swap(&taken, &events)
    }

    private mutating func take(_ event: HTTP2ServerEvents.Event) {
        switch event {
        case .settingsChanged(let headerTableSize):
            if headerTableSize < 4096 { owesSizeUpdate = true }
            isOpen = true
        case .connectionError:
            tally.protocolErrors += 1
            end = .closed
        case .reset(let streamID, _, _):
            silenced.remove(streamID)
        case .goAway, .settingsAcknowledged, .pong:
            break
        }
    }

    /// Gives an answer now, or after its delay.
    mutating func give(_ answer: PreparedAnswer, after delay: Duration) {
        if delay > .zero { delayed.insert(answer, after: delay, now: .now()) } else { give(answer) }
    }

    /// Gives the answers of a bucket whose time has come.
    mutating func giveDelayed(_ key: Int64) {
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

    /// Notes an answer; the first 200 lifts the limit of one stream.
    mutating func noteAnswer(_ streamID: UInt32, isSuccess: Bool) {
        firstStream.answered(streamID, withSuccess: isSuccess)
        guard isSuccess, isLimitedToOne else { return }
        isLimitedToOne = false
        session.changeSettings(maxConcurrentStreams: service.configuration.maxConcurrentStreams)
    }

    /// Carries out an effect on the connection, now or after its delay.
    mutating func happen(_ effect: MockEffect) {
        guard effect.delay == .zero else { return laterEffects.append(effect) }
        guard end == nil else { return }
        switch effect.kind {
        case .streams(let count): session.changeSettings(maxConcurrentStreams: max(0, count))
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

    /// The counts since the last call.
    mutating func takeTally() -> MockCounters {
        var taken = MockCounters()
        swap(&taken, &tally)
        return taken
    }

    mutating func takeExchanges() -> [MockExchange] {
        var taken: [MockExchange] = []
        swap(&taken, &exchanges)
        return taken
    }
}
