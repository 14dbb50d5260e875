import Holdfast
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastTesting
import Testing

@testable import HoldfastLegacyAPNs

@Suite("The connector of the binary protocol keeps the rules of a connector", .timeLimit(.minutes(2)))
struct ConnectorConformanceTests {
    private struct Service: ScriptedService {
        let mock: MockBinaryServer
        let connector: any Connector

        func follow(_ order: ServiceOrder) async throws -> Bool {
            switch order {
            case .accept: mock.setBehavior(nil)
            case .refuse:
                mock.setBehavior(MockBinaryBehavior { $0.isBarrier ? nil : MockBinaryAnswer(.refused(.invalidToken)) })
            case .staySilent: mock.setBehavior(.stalling)
            case .close:
                // Without TLS the kernel connects before the service has heard of it.
                _ = await Patience(.seconds(10)).wait { mock.counters.openConnections > 0 }
                mock.closeConnections()
            case .turnAway: try await mock.stop()
            }
            return true
        }
    }

    @Test(
        "One rule after the other", arguments: ConnectorConformance.rules(for: .cumulative(quietPeriod: nil)),
        [true, false])
    func keeps(rule: ConnectorConformance.Rule, isCleartext: Bool) async throws {
        try await MockedService.run(isCleartext: isCleartext) { service in
            let connector = try service.connector()
            try await ConnectorConformance { Service(mock: service.mock, connector: connector) }.check(rule)
        }
    }
}
