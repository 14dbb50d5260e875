import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Scratch
import TestPostgres
import Testing

/// Whether a promotion counts as one without loss, by what hosts remember of the time before.
@Suite("Who vouches for a promotion", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct VouchingTests {
    private static let once = ", 'guarantee', 'at-most-once'"
    private let log: OwnLog
    private var schema: OwnSchema { log.schema }

    init() throws { log = try OwnLog(OwnSchema()) }

    /// What a host remembers, as the database writes it.
    private struct Memory {
        var incarnation: String
        var timeline: String
        var awaited: String
        /// Of the one journal.
        var journal: Int
        var epoch: Int
        var beats: Int
    }

    private func memory() throws -> Memory {
        let row = try schema.psql("SELECT incarnation, timeline, awaited, beats FROM S.remember_fleet()")
            .split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let beats = try row[3].split(separator: " ").map { try #require(Int($0)) }
        return Memory(
            incarnation: row[0], timeline: row[1], awaited: #"[""]"#, journal: beats[0], epoch: beats[1],
            beats: beats[2])
    }

    /// As after the promotion of a standby for which the fleet knows that every commit waited for it: it has no name.
    ///
    /// - Returns: what a host remembers that has looked just before.
    private func promote() throws -> Memory {
        try schema.psql("UPDATE S.beats SET n = 100")
        var memory = try memory()
        memory.timeline = "00000000"
        try change()
        memory.incarnation = "x" + memory.incarnation
        return memory
    }

    /// The same with any number of journals.
    ///
    /// - Returns: what a host remembers that has looked just before, as arguments of `vouch`.
    private func promoted() throws -> String {
        try schema.psql("SELECT S.look_at_fleet()", "UPDATE S.beats SET n = 100")
        let incarnation = try schema.psql("SELECT 'x' || incarnation FROM S.fleet")
        try change()
        let beats = try schema.psql("SELECT string_agg(concat_ws(' ', journal, epoch, n), ',') FROM S.beats")
        return "'\(incarnation)', '00000000', '[\"\"]', '\(beats)'"
    }

    private func change() throws {
        try schema.psql(
            #"UPDATE S.fleet SET incarnation = 'x' || incarnation, timeline = '00000000', is_synced = true, awaited = '{""}'"#
        )
    }

    private func vouch(_ memory: Memory) throws -> String {
        let beats = "\(memory.journal) \(memory.epoch) \(memory.beats)"
        return try schema.psql(
            "SELECT S.vouch('\(memory.incarnation)', '\(memory.timeline)', '\(memory.awaited)', '\(beats)', '{\(memory.journal)}')"
        )
    }

    private func isDoubtful() throws -> Bool {
        let connection = try schema.asService()
        defer { connection.close() }
        func claim(_ hold: Duration) throws -> [OutboxRow] {
            try OutboxCalls(schema.name, journal: log.journal, epoch: log.epoch, hold: hold).claim(
                10, connection, by: soon())
        }
        #expect(try claim(.seconds(600)).isEmpty)
        let rows = try claim(.milliseconds(1))
        #expect(rows.count == 1)
        return rows.contains(where: \.isPossiblySent)
    }

    @Test(
        "What follows from a host's memory: that nothing is lost, or may be, or that it is too old to say",
        arguments: [
            ("as it was", "lossless", false), ("a beat or two before", "lossless", false), ("nobody", "", true),
            ("not awaited", "lossy", true), ("beats are lost", "lossy", true), ("long before", "older", true),
            ("another owner", "denied", true), ("another journal", "denied", true),
            ("a later timeline", "denied", true),
            ("an earlier timeline", "older", true), ("an owner that is not known", "older", true),
        ])
    func verdicts(of kind: String, verdict: String, isInDoubt: Bool) throws {
        try schema.submit(0..<1, more: Self.once)
        var memory = try promote()
        switch kind {
        case "a beat or two before": memory.beats -= 2
        case "not awaited": memory.awaited = "[]"
        case "beats are lost": memory.beats += 3
        case "long before": memory.beats -= 6
        case "another owner": memory.epoch += 1
        case "another journal": memory.journal += 1
        case "a later timeline": memory.timeline = "00000001"
        case "an earlier timeline":
            try schema.psql("UPDATE S.fleet SET timeline = '00000009'")
        case "an owner that is not known": memory.epoch -= 1
        default: break
        }
        if verdict != "" { #expect(try vouch(memory) == verdict) }
        #expect(try isDoubtful() == isInDoubt)
        // Too late.
        #expect(try vouch(memory) == "late")
    }

    @Test(
        "Half of the owners can't vouch, since they may have been cut off together with the standby; more than half can",
        arguments: [(["a"], true), (["a", "b"], true), (["a", "a", "a"], true), (["a", "b", "c"], false)])
    func majority(of voters: [String], isInDoubt: Bool) throws {
        try schema.submit(0..<1, more: Self.once)
        for name in ["a", "b", "c"] { try schema.psql("SELECT S.create_journal('\(name)')") }
        try schema.psql("UPDATE S.journals SET session_pid = 1 WHERE name IN ('a', 'b', 'c')")
        // Of no owner, so that it counts for nothing.
        try schema.psql("SELECT S.create_journal('nobody')")
        let sight = try promoted()
        for voter in voters {
            let own = "ARRAY(SELECT id FROM S.journals WHERE name IN ('\(voter)', 'nobody'))"
            #expect(try schema.psql("SELECT S.vouch(\(sight), \(own))") == "lossless")
        }
        #expect(try isDoubtful() == isInDoubt)
    }

    @Test(
        "A host of a version that does not say which journals it had vouches for none, and is believed where it knows of a loss"
    )
    func older() throws {
        try schema.submit(0..<1, more: Self.once)
        let sight = try promoted()
        #expect(try schema.psql("SELECT S.vouch(\(sight))") == "lossless")
        #expect(try schema.psql("SELECT promotion FROM S.fleet") == "unvouched")
        let lossy = sight.replacingOccurrences(of: #"'[""]'"#, with: "'[]'")
        #expect(try schema.psql("SELECT S.vouch(\(lossy))") == "lossy")
        #expect(try schema.psql("SELECT promotion, is_lossy FROM S.fleet") == "told|t")
    }

    @Test("Of two hosts, the one that knows of a loss is believed, whichever comes first", arguments: [true, false])
    func disagreement(isFirst: Bool) throws {
        try schema.submit(0..<1, more: Self.once)
        let good = try promote()
        var bad = good
        bad.awaited = "[]"
        for memory in isFirst ? [bad, good] : [good, bad] { _ = try vouch(memory) }
        #expect(try isDoubtful())
    }

    @Test("If all owners that the database knows have nothing more, nobody has to vouch")
    func allHeard() throws {
        let stamp = UUID().uuidString
        try schema.psql("INSERT INTO S.ownerships VALUES (\(log.journal), 1, '\(stamp)')")
        try schema.submit(0..<1, more: Self.once)
        _ = try promote()
        let seen = try schema.psql("SELECT incarnation FROM S.look_at_fleet()")
        try schema.psql("SELECT S.hear_journal(\(log.journal), '\(stamp)', '\(seen)')")
        let connection = try schema.asService()
        defer { connection.close() }
        let rows = try OutboxCalls(schema.name, journal: log.journal, epoch: log.epoch).claim(
            10, connection, by: soon())
        #expect(rows.map(\.isPossiblySent) == [false])
    }

    @Test("Without a journal there is nothing that anybody can have sent, on whichever timeline a server is")
    func firstStart() throws {
        let schema = try OwnSchema()
        try schema.submit(0..<1, more: Self.once)
        try schema.psql(
            #"UPDATE S.fleet SET incarnation = 'x' || incarnation, timeline = '00000000', is_synced = true, awaited = '{""}'"#
        )
        try schema.psql("SELECT S.look_at_fleet()")
        #expect(try schema.psql("SELECT promotion, is_lossy FROM S.fleet") == "|f")
    }

    @Test("A host that comes after one that knows nothing is waited for, from the first that asks on")
    func waiting() throws {
        let memory = try promote()
        // Somebody has looked long ago, such as an application that has cancelled something.
        try schema.psql("SELECT S.look_at_fleet()", "UPDATE S.fleet SET since = now() - interval '1 hour'")
        func doubt(_ patience: Int) throws -> String {
            try schema.psql("SELECT S.doubt_of(\(log.journal), \(log.epoch), \(patience))")
        }
        #expect(try doubt(600_000) == "later" && doubt(0) == "yes")
        #expect(try vouch(memory) == "lossless" && doubt(0) == "no")
    }

    @Test("A journal is in doubt until it was opened so, or its owner says that nothing is missing")
    func doubts() throws {
        let stamp = UUID().uuidString
        try schema.psql("INSERT INTO S.ownerships VALUES (\(log.journal), 1, '\(stamp)')")
        try schema.submit(0..<1)
        _ = try promote()
        #expect(try isDoubtful())
        func doubt() throws -> String { try schema.psql("SELECT S.doubt_of(\(log.journal), \(log.epoch), 0)") }
        #expect(try doubt() == "yes")
        let seen = try schema.psql("SELECT incarnation FROM S.look_at_fleet()")
        try schema.psql("SELECT S.hear_journal(\(log.journal), '\(UUID().uuidString)', '\(seen)')")
        #expect(try doubt() == "yes")
        try schema.psql("SELECT S.hear_journal(\(log.journal), '\(stamp)', '\(seen)')")
        #expect(try doubt() == "no")
        try schema.submit(1..<2)
        _ = try promote()
        #expect(try doubt() == "yes")
        try schema.psql("SELECT S.end_doubt(\(log.journal), \(log.epoch))")
        #expect(try doubt() == "no")
        // Nor does the end of the waiting bring it back.
        #expect(try isDoubtful() && doubt() == "no")
    }
}

/// Hosts, a primary that is lost for good, and its standby.
@Suite("A standby that was away", .timeLimit(.minutes(3)), .enabled(if: PostgresProgram.isWanted))
struct StaleStandbyTests {
    private static let once = ", 'guarantee', 'at-most-once'"

    private let primary: Cluster
    private let standby: Cluster
    private let schema: OwnSchema
    private let folders: [TemporaryFolder]

    init() throws {
        primary = try Cluster(["fsync": "on"])
        schema = try OwnSchema(primary)
        standby = try Cluster(standbyOf: primary, name: "near", ["cluster_name": "'near'", "fsync": "on"])
        folders = try (0..<3).map { _ in try TemporaryFolder() }
        try primary.reload(["synchronous_standby_names": "'near'"])
        let primary = primary
        #expect(
            try eventually {
                try primary.psql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
            })
    }

    private func host(_ name: String, _ folder: Int, _ news: News = News(), string: String) throws -> Host {
        try Host(schema, name, in: folders[folder], times: .short, upkeep: .milliseconds(50), string: string) {
            news.tell($0)
        }
    }

    private var onPrimary: String { primary.tcp("user=\(schema.service)") }
    private var onEither: String { schema.serviceOfEither(standby) }
    private var onStandby: String { standby.tcp("user=\(schema.service)") }

    private func accept(
        _ tags: [String], _ guarantee: Guarantee, after delay: Duration? = nil, by sender: FleetSender
    ) async throws {
        let notifications = try tags.map { tag in
            PushNotification(
                token: try DeviceToken("aa"), topic: "topic", payload: Array(#"{"aps":{}}"#.utf8),
                guarantee: guarantee, tag: Array(tag.utf8),
                deliverAfter: delay.map { EngineClock.system.wall().advanced(by: $0) })
        }
        let receipts = await sender.engine.producer.submit(notifications)
        #expect(receipts.allSatisfy { $0.uid != nil })
    }

    @Test(
        "If all who saw that it was not waited for any more are lost, nothing that is at-most-once is sent again: in the outbox, and in journals"
    )
    func everybodyLost() async throws {
        let gone = try FleetSender(schema, host("gone", 0, string: onPrimary).open(), string: onPrimary)
        try await accept(["entry"], .atMostOnce, by: gone)
        try await accept(["again"], .atLeastOnce, by: gone)
        try await accept(["scheduled"], .atMostOnce, after: .seconds(1), by: gone)
        try await accept(["scheduled again"], .atLeastOnce, after: .seconds(1), by: gone)
        try await accept(["tomorrow"], .atMostOnce, after: .seconds(24 * 3600), by: gone)
        // For later, so that they are in the outbox still when the standby goes away.
        try schema.submit(0..<2, more: Self.once + ", 'deliver_after', now() + interval '65 seconds'")
        try schema.submit(2..<3, more: ", 'deliver_after', now() + interval '65 seconds'")
        let (there, standby) = (schema.on(standby), standby)
        #expect(try eventually { try there.outboxCount == "3" })
        try standby.stop(.immediate)
        try primary.reload(["synchronous_standby_names": "''"])
        try schema.psql("UPDATE S.outbox SET deliver_after = now()")
        gone.deliver()
        #expect(
            try eventually { gone.sent == ["again", "entry", "n0", "n1", "n2", "scheduled", "scheduled again"] })
        try primary.killHard()
        await gone.end()
        try standby.start()
        try standby.promote()
        try there.psql("UPDATE S.outbox SET deliver_after = now()")
        let news = News()
        let host = try host("new", 1, news, string: onStandby)
        let own = try host.open()
        let sender = try FleetSender(there, own)
        sender.deliver()
        let taken = try FleetSender(there, await takeOver("gone", by: host, mine: own), isOwn: false)
        taken.deliver()
        // What is for tomorrow waits on.
        #expect(try eventually { try there.outboxCount == "0" && taken.owned.journal.status().unconfirmed == 1 })
        #expect(try taken.owned.journal.status().scheduled == 1)
        #expect(
            try eventually { sender.sent == ["n2"] && taken.sent == ["again", "scheduled again"] },
            "sent \(sender.sent) and \(taken.sent)")
        #expect(
            try there.asApplication(
                "SELECT string_agg(tag || ' ' || outcome, ',' ORDER BY tag) FROM S.take_outcomes(9)")
                == "n0 unknown,n1 unknown")
        #expect(news.all == ["doubt gone"])
        // Whoever asks later is told what may be missing: accepted after the last that the standby has.
        let connection = try there.asService()
        let losses = try OwnershipCalls(there.name).lossesIfAllowed(connection, by: soon())
        connection.close()
        #expect(losses.keys.sorted() == [taken.owned.id])
        let loss = try #require(losses[taken.owned.id])
        let from = try #require(loss.from)
        #expect(from < loss.to && loss.to < EngineClock.system.wall() && from > loss.to.advanced(by: .seconds(-120)))
        for sender in [sender, taken] { await sender.end() }
    }

    @Test(
        "After a failover in order, with the loss of a host, nothing is in doubt: two others live, or one of them is started again",
        arguments: [true, false])
    func inOrder(isAlive: Bool) async throws {
        let news = News()
        let other = try host("other", 1, news, string: onEither)
        var own = try other.open()
        var watch = try FleetWatch(other.journals, mine: own.id)
        let third = try host("third", 2, string: onEither)
        let alive = try third.open()
        let aliveWatch = try FleetWatch(third.journals, mine: alive.id, limit: 0)
        defer {
            aliveWatch.stop()
            alive.close()
        }
        let gone = try FleetSender(schema, host("gone", 0, string: onPrimary).open(), string: onPrimary)
        try await accept(["entry"], .atMostOnce, by: gone)
        try schema.submit(0..<2, more: Self.once + ", 'deliver_after', now() + interval '65 seconds'")
        let (there, standby) = (schema.on(standby), standby)
        #expect(try eventually { aliveWatch.journals.contains { $0.name == "gone" } })
        #expect(try eventually { try there.outboxCount == "2" && watch.journals.contains { $0.name == "gone" } })
        if !isAlive { watch.stop() }
        try primary.killHard()
        if !isAlive { own.close() }
        try standby.promote()
        await gone.end()
        try there.psql("UPDATE S.outbox SET deliver_after = now()")
        if !isAlive {
            own = try other.open()
            watch = try FleetWatch(other.journals, mine: own.id)
        }
        var taken: FleetSender?
        let sender = try FleetSender(there, own)
        sender.deliver()
        for await found in watch.taken where found.journal.name == "gone" {
            let opened = try other.journals.open(found.journal, taken: found.ownership, OpeningStop())
            taken = try FleetSender(there, opened, isOwn: false)
            break
        }
        watch.stop()
        let entries = try #require(taken)
        entries.deliver()
        #expect(try eventually { try there.outboxCount == "0" && entries.owned.journal.status().unconfirmed == 0 })
        #expect(try eventually { sender.sent == ["n0", "n1"] && entries.sent == ["entry"] })
        #expect(news.all.isEmpty && sender.intake.status.unknown == 0)
        for sender in [sender, entries] { await sender.end() }
    }
}
