import Foundation
import HoldfastOpenSSL

/// What the connections of one server share.
final class MockService: Sendable {
    let configuration: MockAPNsConfiguration
    let validator: RequestValidator
    let verifier: ProviderTokenVerifier
    let ledger: Ledger?
    let counters = Locked(MockCounters())
    let behavior: Locked<MockBehavior?>
    let startedAt = MockService.milliseconds()

    init(_ configuration: MockAPNsConfiguration, providerKey: ES256PublicKey, ledger: Ledger?) {
        self.configuration = configuration
        validator = RequestValidator(configuration)
        verifier = ProviderTokenVerifier(configuration, key: providerKey)
        self.ledger = ledger
        behavior = Locked(configuration.behavior)
    }

    /// Unix milliseconds.
    static func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
