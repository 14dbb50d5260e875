import Holdfast
import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@Suite("Connectors keep the rules of a connector", .timeLimit(.minutes(1)))
struct ConnectorConformanceTests {
    @Test("The in-memory one", arguments: ConnectorConformance.rules(for: .perNotification))
    func inMemory(rule: ConnectorConformance.Rule) async throws {
        try await ConnectorConformance { InMemoryService() }.check(rule)
    }

    @Test(
        "The in-memory one that answers errors only",
        arguments: ConnectorConformance.rules(for: .cumulative(quietPeriod: nil)))
    func inMemoryCumulative(rule: ConnectorConformance.Rule) async throws {
        try await ConnectorConformance { InMemoryCumulativeService() }.check(rule)
    }

    @Test(
        "An application's own sender that is told of errors only",
        arguments: ConnectorConformance.rules(for: .cumulative(quietPeriod: nil)))
    func cumulativeSender(rule: ConnectorConformance.Rule) async throws {
        try await ConnectorConformance { CumulativeSenderService() }.check(rule)
    }

    @Test("A connection that sends after its end, and hears of that later, breaks a rule")
    func lateAnswer() async throws {
        let rule = try #require(
            ConnectorConformance.rules(for: .perNotification).first {
                "\($0)".contains("handed to an ended connection")
            })
        await #expect(throws: (any Error).self) { try await ConnectorConformance { LateService() }.check(rule) }
    }
}

/// Goes on sending when it has ended, and is answered a moment later.
private final class LateConnection: Connection {
    let capacity = 10
    private let sink: ConnectionSink
    private let hasEnded = Monitor(false)

    init(_ sink: ConnectionSink) { self.sink = sink }

    func send(_ handOut: HandOut) {
        guard hasEnded.withLock({ $0 }) else { return sink(.confirmed(handOut.tickets)) }
        Task { [sink] in
            try await Task.sleep(for: .milliseconds(5))
            sink(.confirmed(handOut.tickets))
        }
    }

    func close(deadline: Duration) {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        if isFirst { sink(.ended(ConnectionEnd(possiblySent: [], cause: nil))) }
    }
}

private struct LateService: ScriptedService, Connector {
    let endpoint = "late"
    let limits = NotificationLimits.http2
    let confirmationMode = ConfirmationMode.perNotification
    var connector: any Connector { self }

    func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection { LateConnection(sink) }
    func follow(_ order: ServiceOrder) -> Bool { true }
}

private let refusal = SendResult(apnsStatus: 400, reason: "PayloadEmpty")

private struct InMemoryService: ScriptedService {
    let memory = InMemoryConnector()
    var connector: any Connector { memory }

    func follow(_ order: ServiceOrder) -> Bool {
        switch order {
        case .accept: memory.answer { _ in .confirmed }
        case .refuse: memory.answer { _ in refusal }
        case .staySilent: memory.answer { _ in nil }
        case .close: memory.endConnection(possiblySent: true)
        case .turnAway: memory.failConnecting([ConnectError(.temporary, "turned away")])
        }
        return true
    }
}

private struct InMemoryCumulativeService: ScriptedService {
    let memory = InMemoryCumulativeConnector()
    var connector: any Connector { memory }

    func follow(_ order: ServiceOrder) -> Bool {
        switch order {
        case .accept, .staySilent: memory.judge { _ in nil }
        case .refuse: memory.judge { _ in refusal }
        case .close: memory.endConnection()
        case .turnAway: memory.failConnecting([ConnectError(.temporary, "turned away")])
        }
        return true
    }
}

private struct CumulativeSenderService: ScriptedService {
    private let order = Monitor(ServiceOrder.accept)
    private let errors = PayloadErrors()

    var connector: any Connector {
        SenderConnector(confirmation: .cumulative(quietPeriod: .seconds(1)), payloadErrors: errors) { _, position in
            if order.withLock({ $0 }) == .refuse { errors.refused(position, refusal) }
        }
    }

    func follow(_ order: ServiceOrder) -> Bool {
        if order == .close { errors.connectionEnded("closed by the service") }
        self.order.withLock { $0 = order }
        return order != .turnAway
    }
}
