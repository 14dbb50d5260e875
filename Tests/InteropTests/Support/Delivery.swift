import Foundation
import Holdfast
import HoldfastAPNs
import HoldfastTesting
import Logging
import Testing

/// Notifications through a real engine and connector to a push service that we did not write.
struct Delivery {
    let status: EngineStatus
    let rest: EngineRest
    let ledger: [ForeignPushService.Line]
    let count: Int

    /// Of each notification, how often the service took it.
    let taken: [String: Int]

    /// How often the service's fault struck, as it counts.
    var faults: Int { ledger.count { $0.fault != nil } }
    var lost: Int { (0..<count).count { taken[Self.token($0), default: 0] == 0 } }
    var duplicates: Int { taken.values.reduce(0) { $0 + $1 - 1 } }

    static func run(
        _ count: Int, to service: ForeignPushService, guarantee: Guarantee = .atLeastOnce, keepsLedger: Bool = true,
        connector change: (inout APNsConnector.Configuration) -> Void = { _ in }
    ) async throws -> Delivery {
        var configuration = APNsConnector.Configuration(
            endpoint: try APNsEndpoint("https://127.0.0.1:\(service.port)"), trust: .file(service.certificate))
        configuration.signingKey = try APNsSigningKey(file: service.key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        change(&configuration)
        var engineConfiguration = EngineConfiguration()
        engineConfiguration.retry = RetrySchedule(minimum: .milliseconds(5), maximum: .milliseconds(50))
        engineConfiguration.reconnectMinimum = .milliseconds(5)
        engineConfiguration.reconnectMaximum = .milliseconds(50)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let engine = try PushEngine(
            journal: InMemoryJournal(), routes: [Route(connector: try APNsConnector(configuration))],
            configuration: engineConfiguration, logger: logger)
        let notifications = try (0..<count).map { try notification($0, guarantee) }
        for receipt in await engine.producer.submit(notifications) { _ = try receipt.get() }
        let rest = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            let rest = await engine.untilIdle()
            group.cancelAll()
            try await group.waitForAll()
            return rest
        }
        let ledger = keepsLedger ? try service.ledger() : []
        var taken: [String: Int] = [:]
        for line in ledger where line.taken == true || (line.taken == nil && line.fault == nil) {
            if let token = line.token { taken[token, default: 0] += 1 }
        }
        return Delivery(status: engine.status(), rest: rest, ledger: ledger, count: count, taken: taken)
    }

    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "a", count: 8) + String(repeating: "0", count: 56 - digits.count) + digits
    }

    /// Each names its token in its payload, one in eight is of the greatest size, some have a collapse id.
    private static func notification(_ number: Int, _ guarantee: Guarantee) throws -> PushNotification {
        let token = token(number)
        var payload = #"{"aps":{"alert":"\#(token)"},"x":""#
        if number % 8 == 0 { payload += String(repeating: "x", count: 4096 - payload.utf8.count - 2) }
        return PushNotification(
            token: try DeviceToken(token), topic: "com.example.app\(number % 3)",
            payload: Array((payload + "\"}").utf8),
            pushType: .alert, expiration: nil, collapseID: number % 3 == 0 ? "c\(number)" : nil, guarantee: guarantee)
    }

    /// What holds whatever the service does: nothing is lost, nothing garbled, and what arrived twice had been counted
    /// as possibly so. The service found nothing to object to.
    func expectNothingLost(_ sourceLocation: SourceLocation = #_sourceLocation) {
        let broken = ledger.compactMap(\.protocolError)
        #expect(broken.isEmpty, "\(broken.prefix(3))", sourceLocation: sourceLocation)
        #expect(ledger.allSatisfy { $0.sound ?? true }, "a body is not its token's", sourceLocation: sourceLocation)
        #expect(rest == .drained, "\(status)", sourceLocation: sourceLocation)
        #expect(duplicates <= status.possibleDuplicates, "\(duplicates) duplicates", sourceLocation: sourceLocation)
        let met = status.confirmed + status.unknown + status.rejected.values.reduce(0, +)
        #expect(met == count, "\(status)", sourceLocation: sourceLocation)
    }
}
