import Holdfast
import HoldfastAPNs
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastTesting
import Testing

@Suite("The APNs connector keeps the rules of a connector", .timeLimit(.minutes(2)))
struct ConnectorConformanceTests {
    private struct Service: ScriptedService {
        let mock: MockAPNsServer
        let connector: any Connector

        func follow(_ order: ServiceOrder) async throws -> Bool {
            switch order {
            case .accept: mock.setBehavior(nil)
            case .refuse: mock.setBehavior(MockBehavior { _ in MockAnswer(.rejected("PayloadEmpty")) })
            case .staySilent: mock.setBehavior(.stalling)
            case .close: mock.closeConnections()
            case .turnAway: try await mock.stop()
            }
            return true
        }
    }

    @Test("One rule after the other", arguments: ConnectorConformance.rules(for: .perNotification))
    func keeps(rule: ConnectorConformance.Rule) async throws {
        let mock = try await MockAPNsServer.start()
        let configuration = APNsConnector.Configuration(
            endpoint: try APNsEndpoint("https://127.0.0.1:\(mock.port)"), trust: .file(mock.certificateAuthorityFile))
        let connector = try APNsConnector(configuration)
        let failure: ConformanceFailure?
        do throws(ConformanceFailure) {
            try await ConnectorConformance { Service(mock: mock, connector: connector) }.check(rule)
            failure = nil
        } catch {
            failure = error
        }
        try await mock.stop()
        #expect(failure == nil, "\(failure.map(\.description) ?? "")")
    }
}
