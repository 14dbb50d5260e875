import HoldfastTesting
import Testing

@testable import Holdfast

/// A route of a service that is not Apple's: ``ImaginaryService``.
@Suite("Another service than Apple's", .timeLimit(.minutes(1)))
struct ServiceTests {
    private static let lifetime = Duration.seconds(30 * 86_400)

    private func bench(_ bench: Bench? = nil) throws -> Bench {
        let bench = try bench ?? Bench()
        bench.connectors[0].service.withLock { $0 = ImaginaryService.limits(blacklistLifetime: Self.lifetime) }
        return bench
    }

    private func notification(
        _ number: Int, _ kind: ServiceAddress.Kind = ImaginaryService.nest, guarantee: Guarantee = .atLeastOnce
    ) throws -> PushNotification {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return PushNotification(
            address: try ServiceAddress(kind, bytes: bytes), topic: "com.example.app", payload: Array("{}".utf8),
            guarantee: guarantee)
    }

    private func reason(_ receipts: [Receipt]) -> Reason? {
        if case .refused(let refusal)? = receipts.first { refusal.reason } else { nil }
    }

    @Test("Its answers are those of its table, and others are not its own")
    func table() {
        for word in ImaginaryService.Word.allCases {
            let result = ImaginaryService.answer(status: word.status, word: word.rawValue)
            #expect(result == ImaginaryService.answer(word))
            #expect(result.reason == Reason(said: word.rawValue))
            #expect(ImaginaryService.answer(status: word.status + 1, word: word.rawValue).verdict == .foreign)
        }
        #expect(ImaginaryService.answer(status: 200, word: nil).verdict == .confirmed)
        #expect(ImaginaryService.answer(status: 404, word: nil).verdict == .foreign)
    }

    @Test("An address that it calls gone is blacklisted by its kind, for as long as the service's limits say")
    func expires() throws {
        let bench = try bench()
        let learntAt = bench.clock.wall
        try bench.submit([notification(1)])
        bench.settle()
        bench.connection.answer(1, ImaginaryService.answer(.nestEmpty))
        bench.settle()
        #expect(bench.journal.rejections[UID(1)]?.reason == ImaginaryService.Word.nestEmpty.reason)
        let recipient = try notification(1).recipient
        let entry = try #require(try bench.journal.blacklist.entries(for: recipient).first)
        #expect(entry.expiresAt == learntAt.advanced(by: Self.lifetime) && entry.answered == UID(1))
        #expect(reason(try bench.submit([notification(1)])) == .blacklisted)
        // The same bytes of another kind are another address.
        try bench.submit([notification(1, ImaginaryService.perch)])
        bench.settle()
        #expect(bench.sent == [1, 1])
        bench.connection.answer(1, .confirmed)
        bench.settle()
        bench.clock.stepWall(by: Self.lifetime - .seconds(1))
        #expect(reason(try bench.submit([notification(1)])) == .blacklisted)
        bench.clock.stepWall(by: .seconds(-86_400))
        #expect(reason(try bench.submit([notification(1)])) == .blacklisted)
        bench.clock.stepWall(by: .seconds(86_401))
        #expect(reason(try bench.submit([notification(1)])) == nil)
        bench.settle()
        #expect(bench.sent == [1, 1, 1])
        // Called gone again, it is listed anew.
        bench.connection.answer(1, ImaginaryService.answer(.nestEmpty))
        bench.settle()
        #expect(reason(try bench.submit([notification(1)])) == .blacklisted)
    }

    @Test("What it says of all that follow something blacklists nobody")
    func broadcast() throws {
        let bench = try bench()
        for word in [ImaginaryService.Word.nestEmpty, .wrongFeather] {
            try bench.submit([notification(1, ImaginaryService.flock)])
            bench.settle()
            bench.connection.answer(1, ImaginaryService.answer(word))
            bench.settle()
        }
        #expect(bench.journal.rejections.count == 2 && bench.journal.blacklist.count == 0)
        #expect(reason(try bench.submit([notification(1, ImaginaryService.flock)])) == nil)
    }

    @Test("Behind a 5xx it may have been taken: with one attempt it is unknown, else it goes again, marked as such")
    func unknown() throws {
        for word in [ImaginaryService.Word.storm, .lostInFog] {
            let bench = try bench()
            try bench.submit([notification(1, guarantee: .atMostOnce), notification(2)])
            bench.settle()
            bench.connection.answer(1, ImaginaryService.answer(word))
            bench.connection.answer(2, ImaginaryService.answer(word))
            bench.settle()
            #expect(try bench.journal.status().totals.unknown == 1)
            bench.advance(by: .seconds(120))
            #expect(bench.sent.filter { $0 == 1 }.count == 1 && bench.sent.filter { $0 == 2 }.count > 1)
            #expect(try bench.journal.status().totals.possibleDuplicates > 0)
        }
    }

    @Test(
        "When it takes no more, entries wait and no attempt is counted; without a licence the lane stops until there is one"
    )
    func waits() throws {
        let bench = try bench()
        try bench.submit([notification(1), notification(2)])
        bench.settle()
        bench.connection.answer(1, ImaginaryService.answer(.loftFull, retryAfter: .seconds(5)))
        bench.connection.answer(2, ImaginaryService.answer(.loftFull, retryAfter: .seconds(5)))
        bench.settle()
        for uid in [UID(1), UID(2)] {
            guard case .deferred(_, _, let attempts, let reason)? = try bench.journal.fate(of: uid) else {
                Issue.record("it does not wait")
                continue
            }
            #expect(attempts == 0 && reason == ImaginaryService.Word.loftFull.reason)
        }
        bench.answer = { _ in ImaginaryService.answer(.noLicence) }
        let stopped = try self.bench()
        try stopped.submit([notification(3)])
        stopped.settle()
        stopped.connection.answer(3, ImaginaryService.answer(.noLicence))
        stopped.settle()
        #expect(stopped.status.lanes.contains { $0.stoppedBecause != nil })
        #expect(try stopped.journal.status().unconfirmed == 1)
        stopped.connectors[0].host.withLock { $0 }?.credentialsChanged()
        stopped.settle()
        #expect(stopped.sent == [3, 3])
    }

    @Test("Its route takes nothing of Apple's, nor Apple's anything of its, also of entries that are there")
    func recipients() throws {
        let bench = try bench()
        #expect(reason(try bench.submit(1..<2)) == .recipientUnsupported)
        try bench.submit([notification(1)])
        // The route is Apple's in the next process.
        let other = try bench.crashed()
        #expect(reason(try other.submit([notification(2)])) == .recipientUnsupported)
        other.settle()
        #expect(other.sent.isEmpty)
        #expect(other.journal.rejections[UID(1)]?.reason == .recipientUnsupported)
    }
}
