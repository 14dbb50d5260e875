import Foundation
import HoldfastMocking
import HoldfastOpenSSL

/// The state that the connections of one server share.
final class MockService: MockServing {
    let configuration: MockAPNsConfiguration
    let validator: RequestValidator
    let verifier: ProviderTokenVerifier
    let ledger: Ledger?
    let channels: ChannelRegistry
    let counters = Locked(MockCounters())
    let overrides: MockOverrides
    let startedAt = MockService.milliseconds()

    init(_ configuration: MockAPNsConfiguration, providerKey: ES256PublicKey, ledger: Ledger?) {
        self.configuration = configuration
        validator = RequestValidator(configuration)
        verifier = ProviderTokenVerifier(configuration, key: providerKey)
        self.ledger = ledger
        channels = ChannelRegistry(configuration.channels, limit: configuration.channelLimit)
        overrides = MockOverrides(behavior: configuration.behavior, script: configuration.script)
    }

    var isCleartext: Bool { configuration.isCleartext }
    var handshakeLimit: Duration { configuration.handshakeLimit }

    func count(_ event: MockConnectionEvent) {
        counters.withLock { counters in
            switch event {
            case .opened:
                counters.connections += 1
                counters.openConnections += 1
            case .closed(let neverReady):
                counters.openConnections -= 1
                if neverReady { counters.handshakesFailed += 1 }
            case .turnedAway:
                counters.connections += 1
                counters.handshakesFailed += 1
            }
        }
    }

    /// Decides how a new connection is received.
    func receive(_ number: Int, _ address: MockAddress, _ tls: MockTLSContexts?) throws -> MockListener.Arrival {
        try overrides.receive(number, address, tls, for: self) { plan in
            MockResponder(service: self, number: number, address: address, plan: plan)
        }
    }

    /// Unix milliseconds.
    static func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
