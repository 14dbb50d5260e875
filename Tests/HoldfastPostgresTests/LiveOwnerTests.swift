import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Scratch
import Synchronization
import TestPostgres
import Testing

/// Owners that live while the database loses commits: they go on, and what is on the wire is theirs.
@Suite(
    "An owner that lives while the database loses commits", .timeLimit(.minutes(2)),
    .enabled(if: PostgresProgram.isWanted))
struct LiveOwnerTests {
    private static let once = ", 'guarantee', 'at-most-once'"

    @Test(
        "After the promotion of a standby that lacks commits nothing is sent twice, and every answer is told, whether others are waited for or not",
        arguments: [true, false])
    func promotion(isUnbroken: Bool) async throws {
        let primary = try Cluster()
        let schema = try OwnSchema(primary)
        let standby = try Cluster(standbyOf: primary, name: "copy")
        let either = schema.serviceOfEither(standby)
        let (folder, news) = (try TemporaryFolder(), News())
        let times = isUnbroken ? LeaseTimes.long : .short
        let host = try Host(schema, in: folder, times: times, upkeep: .milliseconds(50), string: either) {
            news.tell($0)
        }
        let owned = try host.open()
        try schema.submit(0..<2)
        try schema.submit(2..<4, more: Self.once)
        #expect(try eventually { try schema.on(standby).outboxCount == "4" })
        try standby.stop(.immediate)
        let connector = InMemoryConnector { _ in nil }
        let sender = try FleetSender(schema, owned, string: either, connector: connector)
        sender.deliver()
        let named = PushNotification(
            token: try DeviceToken("aa"), topic: "topic", payload: Array(#"{"aps":{}}"#.utf8), id: NotificationID(),
            tag: Array("named".utf8))
        _ = await sender.engine.producer.submit([named])
        #expect(try eventually { sender.sent.count == 5 && sender.intake.status.taken == 4 })
        try primary.killHard()
        connector.answer { _ in .confirmed }
        connector.answerWaiting()
        if !isUnbroken { try await Task.sleep(for: LeaseTimes.short.hold * 2) }
        try standby.start()
        try standby.promote()
        let there = schema.on(standby)
        var isWaitedFor = false
        #expect(
            try eventually {
                if owned.troubles.upkeep?.contains("others are waited for") ?? false { isWaitedFor = true }
                return try owned.journal.status().unconfirmed == 0 && there.outboxCount == "0"
            })
        #expect(isWaitedFor == !isUnbroken)
        let outlet = try OutcomeOutlet(
            .init(target: try PQTarget(either), schema: schema.name, journal: owned.id, epoch: owned.epoch),
            of: sender.engine.outcomeReading)
        #expect(try eventually { try there.outcomeCount == "4" })
        #expect(
            try there.asApplication(
                "SELECT string_agg(concat_ws(' ', tag, outcome, attempts), ',' ORDER BY tag) FROM S.take_outcomes(9)")
                == "n0 confirmed 1,n1 confirmed 1,n2 confirmed 1,n3 confirmed 1")
        #expect(sender.sent == ["n0", "n1", "n2", "n3", "named"])
        #expect(owned.ending == nil && news.all == ["restored web-1"])
        #expect(try there.psql("SELECT count(*) FROM S.identities") == "1")
        #expect(try there.psql("SELECT count(*) FROM S.claims") == "0")
        // It goes on, and all of it is in the database.
        connector.clear()
        try there.submit(4..<5)
        #expect(try eventually { sender.sent == ["n4"] && sender.intake.status.inHand == 0 })
        outlet.stop(within: .seconds(5))
        await sender.end()
        let elsewhere = try TemporaryFolder()
        let next = try Host(schema, in: elsewhere, times: .short, string: either).open()
        #expect(try next.name == "web-1" && next.journal.status().unconfirmed == 0)
        #expect(next.journal.outcomeLog.newest.rawValue >= 6)
        next.close()
    }

    @Test("An owner that ends before it has written back leaves its journal to itself, and its copy is ahead")
    func endsBefore() throws {
        let schema = try OwnSchema()
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder, upkeep: .milliseconds(50))
        let owned = try host.open()
        try add("one", to: owned)
        // Whoever reads the log keeps it from being truncated, and so from being written back.
        let reader = try schema.asOwner()
        defer { reader.close() }
        let log = "\(schema.name).log_\(owned.id)"
        try reader.run(
            [PQStep("BEGIN"), PQStep("SELECT count(*) FROM \(log)_0"), PQStep("SELECT count(*) FROM \(log)_1")],
            by: soon())
        try schema.psql("DELETE FROM S.log_\(owned.id)_0 WHERE number = (SELECT max(number) FROM S.log_\(owned.id)_0)")
        #expect(try eventually { owned.refusal?.message.contains("lost commits") ?? false })
        #expect(owned.journal.handOutUntil == .zero && owned.ending == nil)
        owned.close()
        #expect(try schema.psql("SELECT session_pid IS NULL FROM S.journals WHERE id = \(owned.id)") == "f")
        try reader.run([PQStep("ROLLBACK")], by: soon())
        let next = try host.open()
        #expect(try next.name == "web-1" && lanes(next) == ["one"])
        next.close()
    }

    @Test("An owner that is lost while it waits to write back is followed like any other, and not a minute later")
    func lostWhileItWaits() async throws {
        let schema = try OwnSchema()
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let times = LeaseTimes(
            // Long enough for a busy machine to see that it waits.
            beat: .milliseconds(50), hold: .milliseconds(400), takeAfter: .seconds(8), retry: .milliseconds(20))
        let gone = try Host(schema, "gone", in: folders[0], times: times, upkeep: .milliseconds(50))
        let other = try Host(schema, "other", in: folders[1], times: times)
        let owned = try gone.open()
        let own = try other.open()
        for lane in ["one", "two"] { try add(lane, to: owned) }
        let watch = try FleetWatch(other.journals, mine: own.id)
        defer { watch.stop() }
        var arrivals = watch.taken.makeAsyncIterator()
        try #require(try eventually { watch.journals.count == 2 })
        // Its lease runs out while the database changes, so that it waits for others who may have more.
        gone.clock.pause(true)
        try await Task.sleep(for: times.hold * 2)
        try schema.psql(
            "DELETE FROM S.log_\(owned.id)_0 WHERE number = (SELECT max(number) FROM S.log_\(owned.id)_0)",
            schema.restoring)
        gone.clock.pause(false)
        // As long as it lives it says that it has more.
        #expect(try eventually { try schema.psql("SELECT count(*) FROM S.claims") == "1" })
        let first = try schema.psql("SELECT at FROM S.claims")
        #expect(
            try eventually {
                try schema.psql("SELECT at > '\(first)'::timestamptz + interval '500 ms' FROM S.claims") == "t"
            })
        gone.clock.pause(true)
        let start = ContinuousClock.now
        let found = try #require(await arrivals.next())
        #expect(ContinuousClock.now - start < .seconds(30))
        let next = try other.journals.open(found.journal, taken: found.ownership, OpeningStop())
        #expect(next.name == "gone")
        #expect(try lanes(next) == ["one"])
        gone.clock.pause(false)
        #expect(try eventually { owned.ending != nil })
        for journal in [owned, next, own] { journal.close() }
    }

    @Test("An owner may write back if the database knows it as the last, and nobody had more in the time to say so")
    func conditions() throws {
        let log = try OwnLog(try OwnSchema())
        let (schema, stamp) = (log.schema, UUID().uuidString)
        func may(epoch: Int64? = nil, stamp of: String? = nil, grace: Int = 10_000) throws -> String {
            try schema.psql(
                "SELECT S.may_restore(\(log.journal), \(epoch ?? log.epoch), '\(of ?? stamp)', 7, \(grace))")
        }
        #expect(try may() == "no")
        try schema.psql("INSERT INTO S.ownerships VALUES (\(log.journal), 1, '\(stamp)')")
        #expect(try may() == "yes" && may(stamp: UUID().uuidString) == "no")
        #expect(throws: PostgresFailure.self) { try may(epoch: log.epoch + 1) }
        try schema.psql("UPDATE S.fleet SET incarnation = 'x'")
        #expect(try may() == "later" && may(grace: -1) == "yes")
        try schema.psql("SELECT S.claim_journal(\(log.journal), 7)")
        #expect(try may(grace: -1) == "yes")
        try schema.psql("SELECT S.claim_journal(\(log.journal), 8, 60000)")
        #expect(try may() == "no" && may(grace: -1) == "no")
        try schema.psql("UPDATE S.claims SET at = now() - interval '2 minutes'")
        #expect(try may(grace: -1) == "yes")
    }
}

/// Submissions that an intake has in hand while the database forgets that it has claimed them.
@Suite("An intake whose claims are lost", .timeLimit(.minutes(1)), .enabled(if: PostgresProgram.isWanted))
struct LostClaimsTests {
    /// Takes what is submitted, and answers when it is told to.
    private final class Receiver: OutboxReceiver {
        typealias Answer = @Sendable ([Receipt]) -> Void
        let submitted = Mutex<[([QueueRow], Answer)]>([])
        private let isOver = Mutex(false)

        func submit(
            _ notifications: [PushNotification], as producer: String, taking rows: [QueueRow],
            onCommit: @escaping Answer
        ) throws {
            let index = submitted.withLock { submitted in
                submitted.append((rows, onCommit))
                return submitted.count - 1
            }
            if isOver.withLock({ $0 }) { refuse(index) }
        }

        var earliestTime: WallTime { EngineClock.system.wall() }
        var identityBounds: (age: Duration, limit: Int) { (.seconds(60), 1000) }
        var count: Int { submitted.withLock(\.count) }

        func refuse(_ index: Int) {
            let (rows, answer) = submitted.withLock { $0[index] }
            answer(rows.map { _ in .refused(Refusal(.journalUnreachable, "away")) })
        }

        /// Refuses this one, and whatever is submitted from now on: who ends waits for answers.
        func refuse(from index: Int) {
            isOver.withLock { $0 = true }
            refuse(index)
        }
    }

    @Test("What was refused for the moment is submitted again as far as it still is the journal's, and is the same")
    func lostClaims() throws {
        let log = try OwnLog(try OwnSchema())
        let schema = log.schema
        try schema.submit(0..<4)
        let receiver = Receiver()
        let intake = try OutboxIntake(
            .init(
                target: try PQTarget(schema.cluster.tcp("user=\(schema.service)")), schema: schema.name,
                journal: log.journal, epoch: log.epoch), into: receiver)
        #expect(try eventually { receiver.count == 1 })
        let ids = receiver.submitted.withLock { $0[0].0.map(\.number) }
        // Another has the first; the second is gone, and another row has the number of the third.
        let other = try OwnLog(schema).journal
        try schema.psql(
            "UPDATE S.outbox SET journal = \(other) WHERE id = \(ids[0])",
            "DELETE FROM S.outbox WHERE id = \(ids[1])",
            "UPDATE S.outbox SET at = at + interval '1 s' WHERE id = \(ids[2])")
        receiver.refuse(0)
        #expect(try eventually { receiver.count >= 2 })
        #expect(receiver.submitted.withLock { $0[1].0.map(\.number) } == [ids[3]])
        #expect(try eventually { intake.status.inHand == 1 })
        receiver.refuse(from: 1)
        intake.stop(within: .seconds(5))
    }
}

@Suite("Which promotions lose nothing", .timeLimit(.minutes(1)), .enabled(if: PostgresProgram.isWanted))
struct LosslessPromotionTests {
    @Test(
        "A promotion may have lost commits, unless the server's name is that of a standby that every commit waited for")
    func names() throws {
        let primary = try Cluster()
        let schema = try OwnSchema(primary)
        let near = try Cluster(standbyOf: primary, name: "near", ["cluster_name": "'Near'"])
        let far = try Cluster(standbyOf: primary, name: "far", ["cluster_name": "'far'"])
        try primary.reload(["synchronous_standby_names": "'near'"])
        #expect(
            try eventually {
                try primary.psql(
                    "SELECT string_agg(sync_state, ' ' ORDER BY application_name) FROM pg_stat_replication")
                    == "async sync"
            })
        // As with fsync on.
        try schema.psql("SELECT S.look_at_fleet()", "UPDATE S.fleet SET is_synced = true")
        #expect(try eventually { try schema.on(far).psql("SELECT awaited FROM S.fleet") == "{near}" })
        try primary.killHard()
        for (server, isLossy) in [(near, "f"), (far, "t")] {
            try server.promote()
            #expect(
                try schema.on(server).psql("SELECT S.look_at_fleet()", "SELECT is_lossy FROM S.fleet").hasSuffix(
                    isLossy))
        }
    }

    @Test(
        "Every commit waits for a standby only where it waits for all that are named",
        arguments: [
            ("", "{}"), ("s1", "{s1}"), ("\"S 1\"", "{\"s 1\"}"), ("s1, s2", "{}"), ("*", "{}"), ("1 (s1)", "{s1}"),
            ("FIRST 2 (s1, S2)", "{s1,s2}"), ("ANY 1 (s1, s2)", "{}"), ("any 2 (s1,s2)", "{s1,s2}"),
            ("2 (s1, *)", "{}"),
            ("2 (\"a,b\")", "{}"), ("FIRST 1 (s1, s1)", "{s1}"),
        ])
    func awaited(setting: String, names: String) throws {
        let schema = try OwnLog.shared.get()
        #expect(try schema.psql("SELECT S.awaited_standbys('\(setting)')") == names)
    }
}
