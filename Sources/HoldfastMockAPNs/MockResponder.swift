import HoldfastHTTP2
import NIOCore

/// What one connection makes of the bytes it gets: requests in; answers, ledger lines and the connection's end out.
///
/// A value, so that everything one read brings is worked off under a single access to it. It writes to no socket, no file
/// and no counter that others see: ``MockConnection`` does, once at the end of each read.
struct MockResponder {
    let service: MockService
    /// The connection's number.
    let number: Int
    var session: HTTP2ServerSession
    private var events = HTTP2ServerEvents()

    // What MockResponder+Requests.swift works on.
    /// What is to be added to the server's counters.
    var tally = MockCounters()
    /// What is to be written to the ledger before the session's output may go out.
    var ledgerLines: [UInt8] = []
    var ledgerLine = LedgerLine()
    /// What the observer is to be told.
    var exchanges: [MockExchange] = []
    var requestCount = 0
    var behavior: MockBehavior?
    /// Unix seconds.
    var now: Int64 = 0
    var id = NotificationIDText()
    var acceptedBlock: [UInt8]
    /// Those of a request that was in order: the last one that differed from the one before.
    var knownFields: RequestFields?
    var lastAuthorization: (text: String, verdict: ProviderTokenVerifier.Verdict)?
    /// The client's HPACK decoder waits for a size update (RFC 7541 section 4.2).
    var owesSizeUpdate = false
    /// Requests from now on are not looked at.
    var isEnded = false
    /// How the connection is to end with what has been answered up to now.
    private(set) var ending: MockAnswer.Ending?
    var delayed = DelayedAnswers()
    /// Streams that will never be answered, and need not be for the connection to be drained.
    private var silenced: Set<UInt32> = []
    private var isDraining = false
    /// Whether the client's first SETTINGS have arrived.
    private(set) var isOpen = false

    /// Bytes of a body that are waited for. A longer one is refused before all of it has come, with RST_STREAM NO_ERROR
    /// behind the answer (RFC 9113 section 8.1), which not every client takes well; a payload that is merely too large is
    /// to be read whole.
    private static let bodyLimit = 65536

    init(service: MockService, number: Int) {
        self.service = service
        self.number = number
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = service.configuration.maxConcurrentStreams
        limits.maxBodySize = Self.bodyLimit
        session = HTTP2ServerSession(limits: limits)
        acceptedBlock = Self.acceptedBlock(withID: service.configuration.echoesNotificationID)
    }

    /// Takes bytes that arrived, split anywhere.
    mutating func receive(_ bytes: Span<UInt8>) {
        now = MockService.milliseconds() / 1000
        behavior = service.behavior.withLock { $0 }
        session.receive(bytes, events: &events)
        guard !events.isEmpty else { return }
        var taken = HTTP2ServerEvents()
        swap(&taken, &events)
        for event in taken.others { take(event) }
        for request in taken.requests { handle(request, bodies: taken.bodies) }
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
            ending = .close
        case .reset(let streamID, _, _):
            silenced.remove(streamID)
        case .goAway, .settingsAcknowledged, .pong:
            break
        }
    }

    /// Gives an answer now, or when its time has come.
    mutating func give(_ answer: PreparedAnswer, after delay: Duration) {
        if delay > .zero { delayed.insert(answer, after: delay, now: .now()) } else { give(answer) }
    }

    /// Gives the answers of a bucket whose time has come.
    mutating func giveDelayed(_ key: Int64) {
        for answer in delayed.remove(key) where ending == nil { give(answer) }
    }

    private mutating func give(_ answer: PreparedAnswer) {
        answer.write(to: &session, owesSizeUpdate: &owesSizeUpdate)
        if case .silence = answer.content, session.isOpen(answer.streamID) { silenced.insert(answer.streamID) }
        if let ending = answer.ending { self.ending = ending.from(answer.streamID) }
    }

    /// Tells the client to go. What came before is answered; then the connection ends.
    mutating func drain(_ goAway: MockGoAway) {
        guard !isDraining else { return }
        isDraining = true
        announce(goAway)
    }

    /// Writes what the ending asks for.
    ///
    /// - Returns: whether the connection is to be closed behind the session's output.
    mutating func finish() -> Bool {
        switch ending {
        case .goAwayAndClose(let goAway)?:
            announce(goAway)
            return true
        case .goAwayAndDrain(let goAway)?:
            ending = nil
            drain(goAway)
        case .close?:
            return true
        case nil:
            break
        }
        return isDraining && delayed.isEmpty && silenced.count >= session.openStreams
    }

    private mutating func announce(_ goAway: MockGoAway) {
        session.goAway(
            lastStreamID: goAway.lastStreamID, code: HTTP2ErrorCode(rawValue: goAway.code),
            debugData: Array(goAway.debugData.utf8))
    }

    /// What was counted since this was last asked.
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
