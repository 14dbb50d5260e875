import Foundation
import HoldfastOpenSSL
import NIOCore

/// The state that the connections of one server share.
final class MockService: Sendable {
    let configuration: MockAPNsConfiguration
    let validator: RequestValidator
    let verifier: ProviderTokenVerifier
    let ledger: Ledger?
    let channels: ChannelRegistry
    let counters = Locked(MockCounters())
    let overrides: Locked<Overrides>
    let startedAt = MockService.milliseconds()

    init(_ configuration: MockAPNsConfiguration, providerKey: ES256PublicKey, ledger: Ledger?) {
        self.configuration = configuration
        validator = RequestValidator(configuration)
        verifier = ProviderTokenVerifier(configuration, key: providerKey)
        self.ledger = ledger
        channels = ChannelRegistry(configuration.channels, limit: configuration.channelLimit)
        overrides = Locked(
            Overrides(behavior: configuration.behavior, script: configuration.script.map(ScriptRunner.init)))
    }

    /// The departures from normal handling.
    struct Overrides: Sendable {
        var behavior: MockBehavior?
        var script: ScriptRunner?

        /// nil where the script is about connections only: a request is then not worth a copy.
        var answers: ScriptRunner? { script.flatMap { $0.hasAnswers ? $0 : nil } }
    }

    /// Decides how a new connection is received.
    func receive(_ number: Int, _ address: MockAddress, _ tls: MockTLSContexts?) throws -> MockListener.Arrival {
        let plan =
            overrides.withLock(\.script)?.plan(forConnection: number, to: address) ?? MockConnectionPlan()
        switch plan.welcome {
        case .normal: break
        case .closed, .reset:
            counters.withLock { counters in
                counters.connections += 1
                counters.handshakesFailed += 1
            }
            if case .reset = plan.welcome { return .reset }
            return .closed
        }
        let wire = MockWire()
        wire.split(every: plan.segmentByteCount)
        wire.pauseReads(for: (plan.reading?.pause).map(TimeAmount.init))
        let connection = MockConnection(service: self, number: number, address: address, plan: plan, wire: wire)
        return .received(
            MockListener.Reception(
                tls: try tls?.context(plan.tls), handlers: [wire, connection], breaker: breaker(plan, tls),
                reading: plan.reading))
    }

    private func breaker(_ plan: MockConnectionPlan, _ tls: MockTLSContexts?) -> MockTLSBreaker? {
        tls == nil ? nil : MockTLSBreaker(plan.tls)
    }

    /// Unix milliseconds.
    static func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
