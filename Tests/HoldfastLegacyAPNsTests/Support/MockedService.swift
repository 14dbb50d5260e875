import Holdfast
import HoldfastMockAPNs
import HoldfastMocking

@testable import HoldfastLegacyAPNs

/// A mock of the gateway, and connectors to it.
struct MockedService: Sendable {
    let mock: MockBinaryServer
    let isCleartext: Bool

    /// Starts a mock, and stops it whatever happens.
    static func run(
        _ configuration: MockBinaryConfiguration = MockBinaryConfiguration(), isCleartext: Bool = false,
        behavior: MockBinaryBehavior? = nil, _ body: (MockedService) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.isCleartext = isCleartext
        configuration.behavior = behavior
        let mock = try await MockBinaryServer.start(configuration)
        do {
            try await body(MockedService(mock: mock, isCleartext: isCleartext))
        } catch {
            try await mock.stop(within: .zero)
            throw error
        }
        try await mock.stop(within: .zero)
    }

    func configuration() throws -> LegacyAPNsConnector.Configuration {
        try LegacyAPNsConnector.Configuration(
            endpoint: LegacyAPNsEndpoint("\(isCleartext ? "binary" : "binary+tls")://127.0.0.1:\(mock.port)"),
            trust: .file(mock.certificateAuthorityFile))
    }

    func connector(
        _ configure: (inout LegacyAPNsConnector.Configuration) -> Void = { _ in }
    ) throws -> LegacyAPNsConnector {
        var configuration = try configuration()
        configure(&configuration)
        return try LegacyAPNsConnector(configuration)
    }
}
