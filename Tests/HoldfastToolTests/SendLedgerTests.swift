import Foundation
import Holdfast
import Scratch
import Testing

@testable import HoldfastTool

/// What is told of the notifications of a sending, by which order.
@Suite("The ledger of a sending")
struct SendLedgerTests {
    private let folder: TemporaryFolder
    private static let ids = LineIDs(key: IdentityKey(first: 1, second: 2))

    init() throws { folder = try TemporaryFolder() }

    private func ledger() async throws -> SendLedger {
        let header = ReportHeader(input: "/in", device: 1, inode: 2, journal: "/j", key: [1, 2])
        let lock = try ReportLock.existing(folder("r"))
        let file =
            if let lock { try ReportFile.open(lock) } else { try ReportFile.create(folder("r"), header, from: .start) }
        return try SendLedger(file, ids: Self.ids, from: .start)
    }

    private static func notification(_ number: Int) throws -> PushNotification {
        var notification = PushNotification(
            token: try DeviceToken(OperatorWorld.token(number)), topic: "a", payload: "{}")
        notification.id = ids.id(line: number, index: 0)
        return notification
    }

    private static func batch(_ lines: ClosedRange<Int>) throws -> NotificationInput.Batch {
        var batch = NotificationInput.Batch(notifications: try lines.map { try notification($0) }, lines: Array(lines))
        (batch.lineCount, batch.offset) = (lines.upperBound, UInt64(lines.upperBound * 10))
        return batch
    }

    private static func outcome(_ cursor: UInt64, _ uid: UInt64, _ end: TerminalOutcome = .confirmed) throws -> Outcome
    {
        Outcome(
            cursor: OutcomeCursor(cursor), uid: UID(uid), terminal: end,
            history: DeliveryHistory(
                acceptedAt: WallTime(seconds: 1), settledAt: WallTime(seconds: 2), attempts: 1),
            id: NotificationID(), recipient: .device(try DeviceToken(OperatorWorld.token(1))), topic: "a")
    }

    private static func listing(_ outcomes: [Outcome]) -> OutcomeListing {
        let end = outcomes.last?.cursor ?? .start
        return OutcomeListing(outcomes: outcomes, end: end, newest: end)
    }

    private func told() throws -> [String] {
        try folder.read("r").split(separator: "\n").map { text in
            let line = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            return "\(line["line"] ?? "") \(line["outcome"] ?? "")"
        }
    }

    private func finish(_ ledger: SendLedger, _ fates: [UID: EntryFate] = [:]) async throws -> SendLedger.Standing {
        try await ledger.finish(isWhole: true, fates: { uids in uids.map { fates[$0] } }, troubles: [:])
    }

    @Test("An outcome that comes before the receipts of its batch waits for them; others' outcomes are passed over")
    func early() async throws {
        let ledger = try await ledger()
        try await ledger.willTake()
        let listing = Self.listing([try Self.outcome(1, 7), try Self.outcome(2, 8), try Self.outcome(3, 99)])
        #expect(try await !ledger.absorb(listing))
        #expect(await ledger.cursor == .start)
        try await ledger.took(try Self.batch(1...3), [.accepted(UID(7)), .accepted(UID(8)), .accepted(UID(9))])
        #expect(try await ledger.absorb(listing))
        #expect(await ledger.cursor == OutcomeCursor(3))
        #expect(await ledger.open == 1)
        // Delivered again.
        #expect(try await ledger.absorb(listing))
        let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
        let standing = try await finish(
            ledger, [UID(9): .scheduled(lane, for: WallTime(seconds: 9), attempts: 0)])
        #expect(standing.open == 1 && standing.scheduled == 1)
        #expect(try told() == ["1 confirmed", "2 confirmed", "3 scheduled"])
    }

    @Test("A later run replaces the lines of what was open, and says nothing twice")
    func goesOn() async throws {
        let first = try await ledger()
        try await first.willTake()
        try await first.took(
            try Self.batch(1...4),
            [
                .accepted(UID(7)), .refused(Refusal(.blacklisted, "no")), .repeated(UID(3), .rejected(.badTopic)),
                .accepted(UID(8)),
            ])
        #expect(try await first.absorb(Self.listing([try Self.outcome(1, 7)])))
        let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
        _ = try await finish(first, [UID(8): .unconfirmed(lane, attempts: 0, possiblySent: false)])
        #expect(try told() == ["2 refused", "3 rejected", "1 confirmed", "4 unconfirmed"])

        let second = try await ledger()
        #expect(await second.open == 1)
        #expect(await second.cursor == OutcomeCursor(1))
        #expect(try await second.absorb(Self.listing([try Self.outcome(1, 7), try Self.outcome(2, 8, .unknown)])))
        #expect(try await finish(second).open == 0)
        #expect(try told() == ["2 refused", "3 rejected", "1 confirmed", "4 unknown"])
        #expect(!FileManager.default.fileExists(atPath: folder("r.resume")))
        #expect(await second.counts.unknown == 1)
    }

    @Test("What ended without an outcome that can be read is told as far as it is known, and is not waited for")
    func untold() async throws {
        let ledger = try await ledger()
        try await ledger.willTake()
        try await ledger.took(try Self.batch(1...2), [.accepted(UID(7)), .accepted(UID(8))])
        #expect(try await finish(ledger, [UID(7): .settled(.expired)]).open == 0)
        #expect(try told() == ["1 expired", "2 settled"])
        #expect(await ledger.counts.expired == 1)
        #expect(await ledger.counts.untold == 1)
    }
}
