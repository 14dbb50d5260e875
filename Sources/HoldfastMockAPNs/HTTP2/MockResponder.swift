import HoldfastHTTP2
import HoldfastMocking

/// The protocol logic of one connection: requests in; answers and ledger lines out.
struct MockResponder: MockResponding {
    let service: MockService
    /// The connection's number.
    let number: Int
    /// The address that the client connected to.
    let address: MockAddress
    var stage: MockStage

    // State used by MockResponder+Requests.swift.
    var tally = MockCounters()
    var ledgerLines: [UInt8] = []
    var ledgerLine = LedgerLine()
    /// The exchanges for the observer.
    var exchanges: [MockExchange] = []
    var requestCount = 0
    var behavior: MockBehavior?
    var script: ScriptRunner?
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

    init(service: MockService, number: Int, address: MockAddress, plan: MockConnectionPlan) {
        self.service = service
        self.number = number
        self.address = address
        let (rule, streams) = (service.configuration.firstStreamRule, service.configuration.maxConcurrentStreams)
        stage = MockStage(
            names: RequestFields.names, streams: streams, plan: plan,
            firstStream: FirstStreamGuard(isActive: rule == .refused || rule == .goAway),
            streamsBehindFirst: rule == .announced ? streams : nil)
        acceptedBlock = Self.acceptedBlock(withID: service.configuration.echoesNotificationID)
    }

    mutating func receive(_ bytes: Span<UInt8>) {
        now = MockService.milliseconds() / 1000
        (behavior, script) = service.overrides.answers
        guard let events = stage.receive(bytes) else { return }
        tally.protocolErrors += stage.takeProtocolErrors()
        for request in events.requests { handle(request, in: events) }
        stage.putBack(events)
    }

    mutating func ledgerFailed() { tally.ledgerFailures += 1 }

    mutating func publish() {
        service.counters.withLock { $0.add(tally) }
        tally = MockCounters()
        guard let observer = service.configuration.observer, !exchanges.isEmpty else { return }
        observer(exchanges)
        exchanges.removeAll()
    }
}
