import Foundation
import HoldfastMocking
import NIOCore

/// The state that the connections of one server share.
final class MockFCMService: MockServing {
    let configuration: MockFCMConfiguration
    let account: MockServiceAccount
    let tokens = MockAccessTokens()
    let ledger: Ledger?
    let counters = Locked(MockFCMCounters())
    let overrides: MockOverrides
    private let quota: Locked<QuotaBucket>?
    private let names = Locked(0)

    init(_ configuration: MockFCMConfiguration, account: MockServiceAccount, ledger: Ledger?) {
        self.configuration = configuration
        self.account = account
        self.ledger = ledger
        quota = configuration.quota.map { Locked(QuotaBucket($0)) }
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
            MockFCMResponder(service: self, number: number, address: address, plan: plan)
        }
    }

    /// Takes one message off the quota.
    ///
    /// - Returns: whether there was one.
    func takesFromQuota() -> Bool { quota?.withLock { $0.take(at: .now) } ?? true }

    /// Gives one message back: a refusal with 429 does not count.
    func givesBack() { quota?.withLock { $0.giveBack() } }

    /// The name of a message that is taken: `projects/PROJECT/messages/0:1%mock`.
    func nextName() -> String {
        let number = names.withLock { number in
            number += 1
            return number
        }
        return "projects/\(configuration.project)/messages/0:\(number)%mock"
    }

    /// Unix milliseconds.
    static func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}

/// A bucket that fills steadily. Pure: it is told the time.
struct QuotaBucket: Sendable {
    private let capacity: Double
    private let interval: Duration
    private var content: Double
    private var filledAt: ContinuousClock.Instant?

    init(_ quota: MockFCMConfiguration.Quota) {
        capacity = Double(quota.count)
        interval = quota.interval
        content = capacity
    }

    mutating func take(at now: ContinuousClock.Instant) -> Bool {
        if let filledAt { content = min(content + capacity * ((now - filledAt) / interval), capacity) }
        filledAt = now
        guard content >= 1 else { return false }
        content -= 1
        return true
    }

    mutating func giveBack() { content = min(content + 1, capacity) }
}
