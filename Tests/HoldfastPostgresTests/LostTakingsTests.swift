import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Scratch
import TestPostgres
import Testing

@Suite(
    "Submissions by SQL in a database that went back in time", .timeLimit(.minutes(2)),
    .enabled(if: PostgresProgram.isWanted))
struct LostTakingsTests {
    private let schema: OwnSchema
    private static let once = ", 'guarantee', 'at-most-once'"

    init() throws { schema = try OwnSchema() }

    private func host(_ name: String, _ folder: TemporaryFolder) throws -> Host {
        try Host(schema, name, in: folder, times: .short)
    }

    private func outcomes() throws -> [String] {
        try schema.asApplication("SELECT concat_ws(' ', tag, outcome) FROM S.take_outcomes(500) ORDER BY 1")
            .split(separator: "\n").map(String.init)
    }

    private func names(_ range: Range<Int>) -> [String] { range.map { "n\($0)" }.sorted() }

    @Test(
        "What a commit has taken that the database lost goes out once, by the host that has it",
        arguments: [true, false])
    func takenOnce(isSent: Bool) async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let (first, second) = (try host("first", folders[0]), try host("second", folders[1]))
        let other = try second.open()
        let owned = try first.open()
        try schema.submit(0..<3)
        try schema.submit(3..<6, more: Self.once)
        let dump = try schema.saved()
        let before = try FleetSender(schema, owned)
        if isSent { before.deliver() }
        #expect(try eventually { before.intake.status.taken == 6 && (!isSent || before.connector.sent.count == 6) })
        await before.end()
        try schema.restore(dump)
        #expect(try schema.outboxCount == "6")
        let beside = try FleetSender(schema, other)
        beside.deliver()
        let after = try FleetSender(schema, first.open())
        after.deliver()
        // What comes now is held up by nothing.
        try schema.submit(6..<7)
        #expect(try eventually { try schema.outboxCount == "0" })
        #expect(try eventually { before.sent.count + beside.sent.count + after.sent.count >= 7 })
        #expect((before.sent + beside.sent + after.sent).sorted() == names(0..<7))
        #expect(!beside.sent.contains { names(0..<6).contains($0) })
        #expect(try outcomes() == [] && beside.intake.status.possiblyTwice == 0)
        for sender in [beside, after] { await sender.end() }
    }

    @Test(
        "What a host has taken that never comes back ends as unknown where it is at-most-once, and goes out else, as do rows that it had claimed"
    )
    func neverBack() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let (gone, other) = (try host("gone", folders[0]), try host("other", folders[1]))
        let own = try other.open()
        let owned = try gone.open()
        try schema.submit(0..<2)
        try schema.submit(2..<4, more: Self.once)
        let connection = try schema.asService()
        let claimed = try OutboxCalls(schema.name, journal: owned.id, epoch: owned.epoch).claim(
            4, connection, by: soon())
        connection.close()
        #expect(claimed.count == 4)
        try schema.submit(4..<6)
        try schema.submit(6..<8, more: Self.once)
        // At most one attempt with nothing stored is at most one.
        try schema.submit(8..<9, more: ", 'expiration', 'epoch'")
        try schema.submit(9..<10, more: Self.once + ", 'deliver_after', now() + interval '1 day'")
        let dump = try schema.saved()
        owned.close()
        try schema.restore(dump)
        let sender = try FleetSender(schema, own)
        sender.deliver()
        // What comes before the first look counts as what was there.
        #expect(try eventually { try schema.psql("SELECT held FROM S.fleet") != "0" })
        try schema.submit(10..<11, more: Self.once)
        #expect(try eventually { sender.sent == ["n10"] })
        let taken = try FleetSender(schema, await takeOver("gone", by: other, mine: own), isOwn: false)
        taken.deliver()
        #expect(try eventually { try schema.outboxCount == "1" && sender.sent.count + taken.sent.count >= 5 })
        #expect(sender.sent == ["n10", "n4", "n5"] && taken.sent == ["n0", "n1"])
        #expect(try outcomes() == [2, 3, 6, 7, 8].map { "n\($0) unknown" })
        #expect(sender.intake.status.unknown == 3 && sender.intake.status.possiblyTwice == 2)
        // Nobody can have sent it, and it may still be cancelled.
        let scheduled = try schema.psql("SELECT apns_id FROM S.outbox")
        #expect(try schema.asApplication("SELECT S.cancel('\(scheduled)')") == "t")
        for sender in [sender, taken] { await sender.end() }
    }

    @Test("A host that lost nothing, and takes the journal of one that is gone, knows nothing of what that had taken")
    func takenOverByWhoLostNothing() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let (gone, other) = (try host("gone", folders[0]), try host("other", folders[1]))
        let own = try other.open()
        let owned = try gone.open()
        try schema.submit(0..<3, more: Self.once)
        let dump = try schema.saved()
        owned.close()
        try schema.restore(dump)
        // Long enough for the taker to compare the journal with the database, as it is for hosts.
        let hold = LeaseTimes.short.takeAfter * 8
        let sender = try FleetSender(schema, own, hold: hold)
        sender.deliver()
        let taken = try FleetSender(schema, await takeOver("gone", by: other, mine: own), isOwn: false, hold: hold)
        taken.deliver()
        #expect(try eventually { try schema.outboxCount == "0" })
        #expect(sender.sent.isEmpty && taken.sent.isEmpty)
        #expect(try outcomes() == [0, 1, 2].map { "n\($0) unknown" })
        for sender in [sender, taken] { await sender.end() }
    }

    @Test(
        "Rows that another host had taken with a journal which it had taken over are ended when it has that journal again"
    )
    func takenOverBefore() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let (gone, other) = (try host("gone", folders[0]), try host("other", folders[1]))
        let own = try other.open()
        let owned = try gone.open()
        try schema.submit(0..<4, more: Self.once)
        let connection = try schema.asService()
        _ = try OutboxCalls(schema.name, journal: owned.id, epoch: owned.epoch).claim(4, connection, by: soon())
        connection.close()
        let dump = try schema.saved()
        owned.close()
        try schema.psql("UPDATE S.journals SET is_closed = false WHERE name = 'gone'")
        let before = try FleetSender(schema, await takeOver("gone", by: other, mine: own), isOwn: false)
        before.deliver()
        #expect(try eventually { before.sent.count == 4 && before.intake.status.ending == .drained })
        await before.end()
        try schema.restore(dump)
        let after = try FleetSender(schema, await takeOver("gone", by: other, mine: own), isOwn: false)
        after.deliver()
        #expect(try eventually { after.intake.status.ending == .drained })
        #expect(try after.sent == [] && schema.outboxCount == "0" && outcomes() == [])
        await after.end()
        own.close()
    }

    @Test(
        "After a restart in which nothing is lost, rows go out as soon as all owners were heard, and none is in doubt")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let owned = try host("one", folder).open()
        try schema.submit(0..<2, more: Self.once)
        try change()
        let sender = try FleetSender(schema, owned, hold: .seconds(600))
        sender.deliver()
        #expect(try eventually { sender.sent == ["n0", "n1"] })
        #expect(try schema.psql("SELECT held FROM S.fleet") == "0" && outcomes() == [])
        await sender.end()
    }

    /// As after another start of the server, whose settings said that it loses nothing.
    private func change() throws {
        try schema.psql("SELECT S.look_at_fleet()")
        try schema.psql("UPDATE S.fleet SET incarnation = 'x' || incarnation, is_synced = true")
    }

    @Test("Nobody is waited for longer than the time, and without a loss nothing is in doubt then")
    func silent() throws {
        let log = try OwnLog(schema)
        try schema.submit(0..<1, more: Self.once)
        try change()
        let connection = try schema.asService()
        defer { connection.close() }
        func claim(_ hold: Duration) throws -> [OutboxRow] {
            try OutboxCalls(schema.name, journal: log.journal, epoch: log.epoch, hold: hold).claim(
                10, connection, by: soon())
        }
        #expect(try claim(.seconds(600)).isEmpty)
        #expect(try claim(.milliseconds(1)).map(\.isPossiblySent) == [false])
        // Another loss shows while the next change is looked at.
        try schema.submit(1..<2)
        try change()
        #expect(try claim(.seconds(600)).isEmpty)
        try schema.psql("SELECT S.claim_journal(\(log.journal), 7)")
        #expect(try claim(.milliseconds(1)).map(\.isPossiblySent) == [true])
    }

    @Test("A row that has only the number of one that was taken is not ended, and what is held can't be cancelled")
    func sameNumber() throws {
        let log = try OwnLog(schema)
        let ids = try schema.submit(0..<2)
        try change()
        #expect(try schema.asApplication("SELECT S.cancel('\(ids[0])')") == "f")
        let time = "(extract(epoch FROM at) * 1000000)::int8"
        try schema.psql(
            "SELECT S.claim_taken(\(log.journal), array_agg(id), array_agg(\(time) + CASE WHEN apns_id = '\(ids[0])' THEN 1 ELSE 0 END), true) FROM S.outbox"
        )
        #expect(
            try schema.psql("SELECT apns_id, journal, possibly_sent FROM S.outbox WHERE journal IS NOT NULL")
                == "\(ids[1])|\(log.journal)|t")
    }

    @Test("An owner is heard by the stamp of the last ownership alone, and about the present database")
    func stamps() throws {
        let log = try OwnLog(schema)
        let stamps = [UUID().uuidString, UUID().uuidString]
        try schema.psql(
            "INSERT INTO S.ownerships VALUES (\(log.journal), 1, '\(stamps[0])'), (\(log.journal), 5, '\(stamps[1])')")
        try change()
        let seen = try schema.psql("SELECT incarnation FROM S.look_at_fleet()")
        func hear(_ stamp: String, _ incarnation: String) throws -> String {
            try schema.psql("SELECT S.hear_journal(\(log.journal), '\(stamp)', '\(incarnation)')")
            return try schema.psql("SELECT count(*) FROM S.unheard")
        }
        #expect(try hear(stamps[0], seen) == "1")
        #expect(try hear(stamps[1], "before") == "1")
        #expect(try hear(stamps[1], seen) == "0")
    }
}
