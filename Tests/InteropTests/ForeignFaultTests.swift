import Holdfast
import HoldfastAPNs
import Testing

/// Faults that are served, and counted, by a push service that shares no code with ours: Tests/ForeignServers/push_service.py.
@Suite(
    "Faults served by Python's h2", .serialized, .timeLimit(.minutes(5)),
    .enabled("Debian package python3-h2 is not installed") { await PythonH2.shouldTest() })
struct ForeignFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        var at = 300
        var count = 1 << 30
        /// How often it strikes at least.
        let strikes: Int
        /// What the service leaves open, so that a notification may arrive twice or have no known outcome.
        var isOpen = false
        var testDescription: String { name }
    }

    /// Of 1500, those whose tokens it calls unregistered.
    private static let rejects = 15

    static let faults = [
        Fault(name: "goaway", at: 250, count: 4, strikes: 4),
        Fault(name: "goaway-twice", at: 250, count: 4, strikes: 4),
        Fault(name: "refused", count: 200, strikes: 200),
        Fault(name: "stream-limit", at: 200, strikes: 4),
        Fault(name: "stall", count: 1, strikes: 1, isOpen: true),
        Fault(name: "busy", count: 3, strikes: 3),
        Fault(name: "pieces", at: 100, strikes: 14),
        Fault(name: "close-unanswered", at: 300, count: 3, strikes: 3, isOpen: true),
    ]

    private static func deliver(_ fault: Fault, _ guarantee: Guarantee) async throws -> Delivery {
        try await ForeignPushService.python(fault: fault.name, at: fault.at, count: fault.count) { service in
            try await Delivery.run(1500, to: service, guarantee: guarantee) {
                // Of no use to the others: on a busy machine a living service may be slower than this.
                guard fault.name == "stall" else { return }
                $0.pingAfter = .seconds(1)
                $0.pingDeadline = .seconds(1)
            }
        }
    }

    @Test("At least once: nothing is lost, and twice arrives only what the service left open", arguments: faults)
    func atLeastOnce(fault: Fault) async throws {
        let delivery = try await Self.deliver(fault, .atLeastOnce)
        delivery.expectNothingLost()
        #expect(delivery.faults >= fault.strikes)
        #expect(delivery.lost == Self.rejects)
        #expect(delivery.status.rejected.values.reduce(0, +) == Self.rejects)
        #expect(delivery.status.confirmed == 1500 - Self.rejects)
        if !fault.isOpen { #expect(delivery.duplicates == 0 && delivery.status.possibleDuplicates == 0) }
    }

    @Test("At most once: nothing arrives twice, and what the service left open is unknown", arguments: faults)
    func atMostOnce(fault: Fault) async throws {
        let delivery = try await Self.deliver(fault, .atMostOnce)
        delivery.expectNothingLost()
        #expect(delivery.faults >= fault.strikes)
        #expect(delivery.duplicates == 0)
        #expect(delivery.lost <= delivery.status.unknown + Self.rejects)
        if !fault.isOpen { #expect(delivery.status.unknown == 0) }
        #expect(delivery.status.possibleDuplicates == 0)
    }
}
