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
