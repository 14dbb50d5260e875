import Holdfast
import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

/// A push service that does as it is told; here it is the closure of a `SenderConnector`.
actor MyScriptedService: ScriptedService {
    private var order = ServiceOrder.accept

    nonisolated var connector: any Connector {
        SenderConnector { _ in
            switch await self.order {
            case .refuse: return SendResult(apnsStatus: 400, reason: "PayloadEmpty")
            case .staySilent: try await Task.sleep(for: .seconds(600))
            case .accept, .close, .turnAway: break
            }
            return .confirmed
        }
    }

    func follow(_ order: ServiceOrder) -> Bool {
        self.order = order
        return [.accept, .refuse, .staySilent].contains(order)
    }
}

@Suite struct MyConnectorTests {
    @Test("An application's own sender", arguments: ConnectorConformance.rules(for: .perNotification))
    func keeps(rule: ConnectorConformance.Rule) async throws {
        try await ConnectorConformance { MyScriptedService() }.check(rule)
    }
}
