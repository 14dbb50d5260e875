import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Synchronization
import TestPostgres
import Testing

@Suite(
    "Taking what was submitted by SQL into journals", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct OutboxIntakeTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    /// Takes outcomes as the application does, until there are so many: `tag outcome reason`.
    private func outcomes(_ count: Int) throws -> [String] {
        var taken: [String] = []
        _ = try eventually {
            let sql = "SELECT concat_ws(' ', tag, outcome, reason) FROM S.take_outcomes(500)"
            taken += try schema.asApplication(sql).split(separator: "\n").map(String.init)
            return taken.count >= count
        }
        return taken
    }

    private static func entry(_ token: String) throws -> BlacklistEntry {
        let now = EngineClock.system.wall()
        return BlacklistEntry(
            token: try DeviceToken(token), reason: Reason(rawValue: "Unregistered"), since: now, learntAt: now,
            route: "default",
            topic: "topic")
    }

    @Test(
        "What was submitted is delivered, and its outcome is taken once; what only a host can judge is told as rejected"
    )
    func delivered() async throws {
        let host = try SQLHost(OwnLog(schema))
        host.deliver()
        try await host.engine.blacklist.add([Self.entry("00000002")])
        try schema.submit(0..<5)
        try schema.submit(5..<6, topic: "unknown")
        try schema.submit(6..<7, more: ", 'producer', 'shop'")
        try host.takeIn()
        try host.tell()
        let taken = try outcomes(7)
        #expect(
            Set(taken) == [
                "n0 confirmed", "n1 confirmed", "n2 rejected Blacklisted", "n3 confirmed", "n4 confirmed",
                "n5 rejected \(try #require(taken.first { $0.hasPrefix("n5") }).split(separator: " ")[2])",
                "n6 confirmed",
            ])
        #expect(taken.count == 7 && host.connector.sent.count == 5)
        #expect(try schema.outboxCount == "0")
        #expect(host.intake?.status.taken == 5 && host.intake?.status.rejected == 2)
        #expect(host.outlet?.status.put == 5)
        await host.end()
        #expect(try schema.outcomeCount == "0")
    }

    @Test("A host that is to leave submissions to others claims none, and takes them when it may")
    func left() async throws {
        let (room, asked) = (Monitor(0), Monitor(0))
        let host = try SQLHost(OwnLog(schema))
        host.deliver()
        try schema.submit(0..<5)
        try host.takeIn(room: {
            asked.withLock { $0 += 1 }
            return room.withLock { $0 }
        })
        try host.tell()
        #expect(try eventually { asked.withLock { $0 } > 3 })
        #expect(try schema.psql("SELECT count(*) FROM S.outbox WHERE journal IS NULL") == "5")
        #expect(host.intake?.status.trouble == nil)
        // One after the other.
        room.withLock { $0 = 1 }
        #expect(try outcomes(5).count == 5)
        await host.end()
    }

    @Test("Two hosts that poll at once take each row once")
    func twoHosts() async throws {
        let hosts = try (0..<2).map { _ in try SQLHost(OwnLog(schema)) }
        for host in hosts {
            host.deliver()
            try host.takeIn(batch: 20)
            try host.tell()
        }
        var ids: Set<String> = []
        for part in 0..<6 { ids.formUnion(try schema.submit(part * 100..<part * 100 + 100)) }
        let taken = try outcomes(600)
        #expect(taken.count == 600 && Set(taken).count == 600)
        let sent = hosts.flatMap { $0.connector.sent.compactMap { $0.id?.description } }
        #expect(sent.count == 600 && Set(sent) == ids)
        #expect(hosts.allSatisfy { !$0.connector.sent.isEmpty })
        for host in hosts { await host.end() }
        #expect(try schema.outboxCount == "0" && schema.outcomeCount == "0")
    }

    @Test(
        "A connection that is cut in the commit that takes rows takes each once",
        arguments: [
            FaultProxy.Fault.cutBefore("keep_commit_taking"), .cutShort("keep_commit_taking", by: 9),
            .cutAfter("keep_commit_taking"), .cutAnswer("keep_commit_taking", after: 3),
        ])
    func cuts(fault: FaultProxy.Fault) async throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let host = try SQLHost(OwnLog(schema), port: proxy.port)
        host.deliver()
        proxy.fail(fault)
        try schema.submit(0..<10)
        try host.takeIn()
        #expect(try eventually { host.gate.status.trouble != nil })
        proxy.fail(nil)
        try host.tell()
        #expect(try outcomes(10).count == 10)
        #expect(host.connector.sent.count == 10 && host.gate.status.ending == nil)
        await host.end()
        #expect(try schema.outboxCount == "0" && schema.outcomeCount == "0")
    }

    @Test("A cut of the intake's own connection, before a claim or behind it, loses no row and takes none twice")
    func cutsOfIntake() async throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let host = try SQLHost(OwnLog(schema))
        host.deliver()
        try host.takeIn(batch: 7, port: proxy.port)
        try host.tell()
        for (part, fault) in [
            FaultProxy.Fault.cutAfter("claim_outbox"), .cutBefore("claim_outbox"), .cutAfter("reclaim_outbox"),
        ]
        .enumerated() {
            proxy.fail(fault)
            if part == 2 { proxy.cut() }
            try schema.submit(part * 20..<part * 20 + 20)
            #expect(try eventually { host.intake?.status.trouble != nil })
            proxy.fail(nil)
            #expect(try eventually { try schema.outboxCount == "0" })
        }
        #expect(try outcomes(60).count == 60)
        #expect(host.connector.sent.count == 60)
        await host.end()
    }

    @Test("Rows of a host that ended between claim and commit are its journal's next owner's, and no one else's")
    func killedBeforeCommit() async throws {
        let log = try OwnLog(schema)
        let first = try SQLHost(log)
        try schema.submit(0..<10)
        #expect(try first.calls.claim(6, schema.asService(), by: soon()).count == 6)
        first.kill()
        // Another journal's host gets the rest.
        let other = try SQLHost(OwnLog(schema))
        other.deliver()
        try other.takeIn()
        #expect(try eventually { other.connector.sent.count == 4 })
        let next = try SQLHost(log)
        #expect(first.calls.isRefused(schema))
        next.deliver()
        try next.takeIn(isNew: false)
        #expect(try eventually { next.intake?.status.ending == .drained })
        #expect(try eventually { next.connector.sent.count == 6 })
        #expect(try schema.outboxCount == "0")
        for host in [other, next] { await host.end() }
    }

    @Test("Rows of a host that ended between the commit and its answer are in the journal, once")
    func killedBeforeAnswer() async throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let log = try OwnLog(schema)
        let first = try SQLHost(log, port: proxy.port)
        try schema.submit(0..<10)
        proxy.fail(.silentAfter("keep_commit_taking"))
        try first.takeIn()
        #expect(try eventually { try schema.outboxCount == "0" })
        first.kill()
        #expect(first.engine.producer.backlog == 0)
        let next = try SQLHost(log)
        next.deliver()
        try next.takeIn()
        try next.tell()
        #expect(try outcomes(10).count == 10)
        #expect(next.connector.sent.count == 10)
        await next.end()
        #expect(try schema.outcomeCount == "0")
    }

    @Test("While the journal is full, rows wait in the outbox, and at the end others get them")
    func full() async throws {
        let host = try SQLHost(OwnLog(schema), entryLimit: 5)
        try schema.submit(0..<20)
        try host.takeIn(batch: 4)
        #expect(try eventually { host.intake?.status.trouble != nil })
        #expect(try host.engine.producer(named: "sql").backlog == 4)
        await host.end()
        #expect(host.intake?.status.ending == .stopped)
        #expect(try schema.psql("SELECT count(*), count(journal) FROM S.outbox") == "16|0")
        let other = try SQLHost(OwnLog(schema))
        other.deliver()
        try other.takeIn()
        #expect(try eventually { other.connector.sent.count == 16 })
        await other.end()
    }

    @Test("While the journal is full, nothing new is claimed, and what it refused is tried again with pauses")
    func fullClaimsNothing() async throws {
        let host = try SQLHost(OwnLog(schema), entryLimit: 5)
        try schema.submit(0..<8)
        try host.takeIn(batch: 4)
        #expect(try eventually { host.intake?.status.trouble != nil })
        #expect(host.intake?.status.isOfJournal == true)
        try schema.submit(8..<60)
        let begin = ContinuousClock.now
        let refused = host.engine.status().refused
        #expect(try eventually { host.engine.status().refused >= refused + 20 })
        // Five tries: 20, 40, 80 ms and so on.
        #expect(ContinuousClock.now - begin > .milliseconds(250))
        #expect(try schema.psql("SELECT count(*), count(journal) FROM S.outbox") == "56|4")
        await host.end()
    }

    @Test("A full journal's host lets other hosts have what it has claimed, and takes again when it may")
    func fullLetsGo() async throws {
        let leaves = Monitor(true)
        let host = try SQLHost(OwnLog(schema), entryLimit: 5)
        try schema.submit(0..<8)
        let isLeft = Monitor(false)
        try host.takeIn(
            batch: 4, room: { isLeft.withLock { $0 } ? 0 : .max },
            leavesRefused: {
                isLeft.withLock { $0 = leaves.withLock { $0 } }
                return isLeft.withLock { $0 }
            })
        #expect(try eventually { isLeft.withLock { $0 } })
        #expect(try eventually { try schema.psql("SELECT count(*), count(journal) FROM S.outbox") == "4|0" })
        #expect(try eventually { host.intake?.status.inHand == 0 && host.intake?.status.trouble == nil })
        let other = try SQLHost(OwnLog(schema))
        other.deliver()
        try other.takeIn()
        #expect(try eventually { other.connector.sent.count == 4 })
        await other.end()
        // It has sent what it had, and has room.
        host.deliver()
        #expect(try eventually { host.connector.sent.count == 4 })
        leaves.withLock { $0 = false }
        isLeft.withLock { $0 = false }
        try schema.submit(8..<10)
        #expect(try eventually { host.connector.sent.count == 6 })
        await host.end()
    }

    @Test("A batch that is larger than the journal may be is taken in parts")
    func largerThanTheJournal() async throws {
        let host = try SQLHost(OwnLog(schema), entryLimit: 10)
        host.deliver()
        try schema.submit(0..<100)
        try host.takeIn()
        #expect(try eventually { host.connector.sent.count == 100 })
        #expect(try eventually { try schema.outboxCount == "0" })
        await host.end()
        #expect(try schema.outcomeCount == "0")
    }

    @Test("Rows that a journal refuses for whatever reason are given free while other hosts live, and they send them")
    func refusedLetsGo() async throws {
        let host = try SQLHost(OwnLog(schema), ownership: AwayOwner())
        try schema.submit(0..<20)
        try host.takeIn(leavesRefused: { true })
        #expect(try eventually { host.intake?.status.trouble != nil })
        let other = try SQLHost(OwnLog(schema))
        other.deliver()
        try other.takeIn()
        #expect(try eventually { other.connector.sent.count == 20 })
        await other.end()
        await host.end()
        #expect(try schema.outcomeCount == "0")
    }

    /// An owner whose commits can't be kept for the moment.
    private final class AwayOwner: JournalOwnership {
        let isAway = Atomic(true)
        var handOutUntil: Duration? { nil }
        var ending: JournalError? { nil }
        var refusal: JournalError? {
            isAway.load(ordering: .acquiring) ? JournalError(.unreachable, "the database is away") : nil
        }
    }

    @Test("While the journal's database is away, rows wait in the outbox, and none is told as rejected")
    func unreachable() async throws {
        let owner = AwayOwner()
        let host = try SQLHost(OwnLog(schema), ownership: owner)
        host.deliver()
        try host.takeIn()
        try schema.submit(0..<20)
        #expect(try eventually { host.intake?.status.trouble != nil })
        #expect(host.intake?.status.rejected == 0 && host.connector.sent.isEmpty)
        owner.isAway.store(false, ordering: .releasing)
        #expect(try eventually { host.connector.sent.count == 20 })
        #expect(try schema.outcomeCount == "0")
        await host.end()
    }

    @Test("A repeat under its own apns-id leaves the outbox, and is not sent again")
    func repeats() async throws {
        let host = try SQLHost(OwnLog(schema))
        host.deliver()
        try host.takeIn()
        try host.tell()
        let call =
            "SELECT S.submit('topic', 'ab', '{}', tag => 't', id => '11111111-1111-4111-8111-111111111111')"
        _ = try schema.asApplication(call)
        #expect(try outcomes(1) == ["t confirmed"])
        // Once more, alone; and once more when it would be refused now.
        _ = try schema.asApplication(call)
        #expect(try eventually { try schema.outboxCount == "0" })
        try await host.engine.blacklist.add([Self.entry("ab")])
        _ = try schema.asApplication(call)
        #expect(try eventually { try schema.outboxCount == "0" })
        #expect(host.connector.sent.count == 1)
        await host.end()
        #expect(try schema.outcomeCount == "0")
    }

    @Test("An intake ends when another host has taken the journal, and its claims stay for that one")
    func ownershipLost() async throws {
        let log = try OwnLog(schema)
        let host = try SQLHost(log)
        try host.takeIn()
        try log.take()
        try schema.submit(0..<3)
        #expect(try eventually { host.intake?.status.ending == .ownershipLost })
        #expect(try schema.psql("SELECT count(*), count(journal) FROM S.outbox") == "3|0")
        await host.end()
    }

    @Test("A submission of rows that somebody has deleted is refused, and what is committed with it is not")
    func rowsGone() async throws {
        let log = try OwnLog(schema)
        let host = try SQLHost(log)
        try schema.submit(0..<2)
        let rows = try host.calls.claim(10, schema.asService(), by: soon())
        try schema.psql("DELETE FROM S.outbox WHERE id = \(rows[1].id)")
        let receipts = try await withCheckedThrowingContinuation { continuation in
            do {
                try host.engine.submit(
                    rows.map { try $0.notification.get() }, as: "sql", taking: rows.map(\.place),
                    onCommit: { continuation.resume(returning: $0) })
            } catch { continuation.resume(throwing: error) }
        }
        #expect(
            receipts.allSatisfy { if case .refused(let why) = $0 { why.reason == .journalUnreachable } else { false } })
        #expect(try host.gate.status.ending == nil && schema.outboxCount == "1")
        _ = try host.journal.openLane(LaneKey(route: "more", urgency: .immediate, guarantee: .atLeastOnce))
        host.kill()
        // The next owner takes what there is.
        let next = try SQLHost(log)
        next.deliver()
        try next.takeIn()
        #expect(try eventually { next.connector.sent.count == 1 })
        await next.end()
    }
}

extension OutboxCalls {
    /// Whether a claim is refused, since the journal has another owner.
    fileprivate func isRefused(_ schema: OwnSchema) -> Bool {
        do {
            _ = try claimed(after: 0, 1, schema.asService(), by: soon())
            return false
        } catch let error as PQError { return error.sqlState == "HF001" } catch { return false }
    }
}
