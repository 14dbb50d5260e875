import Holdfast
import HoldfastTesting
import Synchronization
import Testing

/// The service that the client reaches, which does as it is told.
final class ScriptedChat: ScriptedService, ChatClient {
    private let order = Mutex(ServiceOrder.accept)
    var connector: any Connector { ChatConnector(client: self) }

    func follow(_ order: ServiceOrder) -> Bool {
        self.order.withLock { $0 = order }
        // It has no connection to end.
        return order != .close
    }

    func open() throws {
        if order.withLock({ $0 == .turnAway }) { throw CancellationError() }
    }

    func push(_ body: [UInt8], to address: String) async throws -> Int {
        switch order.withLock({ $0 }) {
        case .refuse: return 400
        case .staySilent: try await Task.sleep(for: .seconds(600))
        case .accept, .close, .turnAway: break
        }
        return 200
    }
}

@Suite("The connector of the article keeps the rules of a connector", .timeLimit(.minutes(1)))
struct ChatConnectorTests {
    @Test("One rule after the other", arguments: ConnectorConformance.rules(for: .perNotification))
    func keeps(rule: ConnectorConformance.Rule) async throws {
        try await ConnectorConformance { ScriptedChat() }.check(rule)
    }
}
