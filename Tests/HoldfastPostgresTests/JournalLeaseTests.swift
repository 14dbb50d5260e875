import Foundation
import Holdfast
import HoldfastPQ
import HoldfastPostgres
import TestPostgres
import Testing

@Suite("The lease of a journal, on a real server", .enabled(if: PostgresProgram.isWanted))
struct JournalLeaseTests {
    private let schema: OwnSchema
    private let journal: Int32

    init() throws { (schema, journal) = try Self.made(OwnSchema()) }

    private static func made(_ schema: OwnSchema) throws -> (OwnSchema, Int32) {
        (schema, try OwnershipCalls(schema.name).createJournal("a", try schema.asService(), by: soon()))
    }

    private func terms(
        _ times: LeaseTimes, _ host: LeaseHost = LeaseHost(), port: Int? = nil, schema: OwnSchema? = nil
    ) throws -> JournalLease.Terms {
        let schema = schema ?? self.schema
        let target = try PQTarget(schema.cluster.tcp("user=\(schema.service)", port: port))
        return JournalLease.Terms(
            target: target, schema: schema.name, journal: journal, host: "here", times: times, clock: host.clock)
    }

    private func held(_ terms: JournalLease.Terms) throws -> JournalLease {
        let lease = try JournalLease(terms)
        try #require(lease.waitToHold(.seconds(20)), "\(lease.trouble ?? "")")
        return lease
    }

    @Test("A free journal is taken at once, and its hand-out end moves on with the beats, whatever wall clocks say")
    func holds() throws {
        let lease = try held(terms(.long))
        #expect(lease.epoch == 1)
        let end = try #require(lease.handOutUntil)
        #expect(end <= LeaseHost.now + .seconds(30))
        #expect(try eventually { try #require(lease.handOutUntil) > end + .milliseconds(100) })
        #expect(lease.trouble == nil)
        #expect(try schema.psql("SELECT host, epoch FROM S.journals") == "here|1")
        #expect(lease.release(within: .seconds(10)) == .released)
    }

    @Test("A host that waits for a journal of which it has more says so at each look, until it has the journal")
    func claims() throws {
        let first = try held(terms(.short))
        var terms = try terms(.short)
        terms.claim = 7
        let second = try JournalLease(terms)
        let claim = "SELECT at FROM S.claims WHERE number = 7"
        #expect(try eventually { try schema.psql(claim) != "" })
        let then = try schema.psql(claim)
        let isRenewed =
            "SELECT at > '\(then)'::timestamptz + interval '2 s' AND at + lasting > clock_timestamp() FROM S.claims"
        #expect(try eventually { try schema.psql(isRenewed) == "t" })
        first.release(within: .seconds(10))
        #expect(second.waitToHold(.seconds(20)))
        let last = try schema.psql(claim)
        let until = try #require(second.handOutUntil)
        #expect(try eventually { try #require(second.handOutUntil) > until })
        #expect(try schema.psql(claim) == last)
        second.release(within: .seconds(10))
    }

    @Test("The first lease counts from the sending of the call that took the journal, however late its answer is")
    func lateTake() throws {
        let locker = try schema.asOwner()
        try locker.run([.begin, PQStep("SELECT FROM \(schema.name).beats FOR UPDATE")], by: soon())
        let times = LeaseTimes(
            beat: .seconds(10), hold: .seconds(30), takeAfter: .seconds(60), answer: .seconds(20))
        let lease = try JournalLease(terms(times))
        let waiting = "FROM pg_stat_activity WHERE usename = '\(schema.service)' AND wait_event_type = 'Lock'"
        #expect(try eventually { try schema.psql("SELECT count(*) \(waiting)") == "1" })
        let after = LeaseHost.now
        try locker.run([.commit], by: soon())
        #expect(lease.waitToHold(.seconds(20)))
        #expect(try #require(lease.handOutUntil) <= after + .seconds(30))
        lease.release(within: .seconds(10))
    }

    @Test(
        "A host that is paused loses its journal to another, hands nothing out meanwhile, and finds out when it goes on"
    )
    func paused() throws {
        let host = LeaseHost()
        let first = try held(terms(.short, host))
        let second = try JournalLease(terms(.short))
        let watch = DoubleWatch([first, second])
        // As long as the first lives, the second waits.
        #expect(!second.waitToHold(.milliseconds(1100)))
        #expect(first.handsOut)
        host.pause(true)
        #expect(second.waitToHold(.seconds(20)))
        #expect(second.epoch == 2 && !first.handsOut)
        host.pause(false)
        #expect(try eventually { first.phase == .lost })
        #expect(first.handOutUntil == nil)
        #expect(second.isHeld)
        second.release(within: .seconds(10))
        let (looks, doubles) = try watch.results()
        #expect(looks > 100 && doubles == 0)
    }

    @Test("A taker's waiting begins with the answer to its first look, however long that took")
    func lateLook() throws {
        let host = LeaseHost()
        let first = try held(terms(.short, host))
        host.pause(true)
        let locker = try schema.asOwner()
        try locker.run([.begin, PQStep("LOCK TABLE \(schema.name).beats")], by: soon())
        let second = try JournalLease(terms(.short))
        let looks = "WHERE usename = '\(schema.service)' AND wait_event_type = 'Lock' AND query LIKE '%is_free%'"
        #expect(try eventually { try schema.psql("SELECT count(*) FROM pg_stat_activity \(looks)") == "1" })
        usleep(1_100_000)
        let shown = LeaseHost.now
        try locker.run([.commit], by: soon())
        #expect(second.waitToHold(.seconds(20)))
        #expect(LeaseHost.now - shown >= .seconds(1))
        host.pause(false)
        for lease in [first, second] { lease.release(within: .seconds(10)) }
    }

    @Test("Of two takers of a journal whose host is gone one succeeds, and the other goes on waiting")
    func twoTakers() throws {
        let host = LeaseHost()
        let first = try held(terms(.short, host))
        let takers = try (0..<2).map { _ in try JournalLease(terms(.short)) }
        let watch = DoubleWatch([first] + takers)
        host.pause(true)
        #expect(try eventually { takers.contains(where: \.isHeld) })
        usleep(200_000)
        #expect(takers.count(where: \.isHeld) == 1)
        let index = takers[0].isHeld ? 0 : 1
        #expect(takers[index].release(within: .seconds(10)) == .released)
        #expect(takers[1 - index].waitToHold(.seconds(20)))
        takers[1 - index].release(within: .seconds(10))
        host.pause(false)
        #expect(try watch.results().doubles == 0)
    }

    @Test("A released journal is another's at once, in the next epoch but one")
    func release() throws {
        let first = try held(terms(.long))
        let second = try JournalLease(terms(.long))
        #expect(!second.waitToHold(.milliseconds(100)))
        let watch = DoubleWatch([first, second])
        let start = LeaseHost.now
        #expect(first.release(within: .seconds(10)) == .released)
        #expect(first.handOutUntil == nil)
        #expect(second.waitToHold(.seconds(20)))
        #expect(LeaseHost.now - start < .seconds(10))
        #expect(second.epoch == 3)
        second.release(within: .seconds(10))
        #expect(try watch.results().doubles == 0)
    }

    @Test("A lost connection is made anew, in the same epoch, also where a beat was in doubt")
    func cut() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let lease = try held(terms(.long, port: proxy.port))
        let faults: [FaultProxy.Fault?] = [nil, .cutAfter("beat"), .cutBefore("beat")]
        for fault in faults {
            proxy.fail(fault)
            if fault == nil { proxy.cut() }
            #expect(try eventually { lease.trouble != nil }, "\(String(describing: fault))")
            proxy.fail(nil)
            #expect(try eventually { lease.trouble == nil })
            let end = try #require(lease.handOutUntil)
            #expect(try eventually { try #require(lease.handOutUntil) > end })
            #expect(lease.epoch == 1)
        }
        lease.release(within: .seconds(10))
    }

    @Test("A host that is cut off hands nothing out behind its time, and another takes the journal")
    func cutOff() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let first = try held(terms(.short, port: proxy.port))
        let second = try JournalLease(terms(.short))
        let watch = DoubleWatch([first, second])
        proxy.fail(.cutBefore("beat"))
        #expect(second.waitToHold(.seconds(20)))
        #expect(!first.handsOut && first.isHeld && first.trouble != nil)
        proxy.fail(nil)
        #expect(try eventually { first.phase == .lost })
        second.release(within: .seconds(10))
        #expect(try watch.results().doubles == 0)
    }

    @Test("Whoever does not know whether it took the journal waits as for a stranger, and takes it once more")
    func takeInDoubt() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        proxy.fail(.cutAfter("take_journal"))
        let lease = try JournalLease(terms(.short, port: proxy.port))
        #expect(try eventually { lease.trouble != nil })
        #expect(try eventually { try schema.psql("SELECT epoch FROM S.journals") == "1" })
        #expect(!lease.isHeld)
        proxy.fail(nil)
        #expect(lease.waitToHold(.seconds(20)))
        #expect(lease.epoch == 2)
        lease.release(within: .seconds(10))
    }

    @Test("A database that is away stops handing out, is told, and is waited for; then the owner is the same")
    func restart() throws {
        let (own, _) = try Self.made(OwnSchema(Cluster()))
        let times = LeaseTimes(
            beat: .milliseconds(50), hold: .milliseconds(300), takeAfter: .seconds(60), retry: .milliseconds(20))
        let lease = try held(terms(times, schema: own))
        for mode in [Cluster.Stop.immediate, .fast] {
            try own.cluster.stop(mode)
            #expect(try eventually { !lease.handsOut && lease.trouble != nil })
            #expect(lease.epoch == 1)
            try own.cluster.start()
            #expect(try eventually { lease.handsOut && lease.trouble == nil })
            #expect(lease.epoch == 1)
        }
        // Nobody is told that it is free, and nobody waits long.
        try own.cluster.stop(.immediate)
        #expect(lease.release(within: .milliseconds(50)) == .abandoned)
        #expect(lease.handOutUntil == nil)
    }

    @Test("Giving up does not wait for a database that is silent")
    func silent() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let times = LeaseTimes(
            beat: .milliseconds(50), hold: .seconds(30), takeAfter: .seconds(60), answer: .seconds(60))
        let lease = try held(terms(times, port: proxy.port))
        proxy.fail(.silentAfter("beat"))
        let end = try #require(lease.handOutUntil)
        usleep(200_000)
        let start = LeaseHost.now
        #expect(lease.release(within: .milliseconds(100)) == .abandoned)
        #expect(LeaseHost.now - start < .seconds(10))
        #expect(end > start)
    }

    @Test("A session that was given up is ended by the next one, also where a balancer between keeps it")
    func leftBehind() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let times = LeaseTimes(
            beat: .milliseconds(50), hold: .seconds(30), takeAfter: .seconds(60), answer: .milliseconds(500),
            retry: .milliseconds(20))
        let lease = try held(terms(times, port: proxy.port))
        let sessions =
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast lease of journal \(journal)' "
            + "AND usename = '\(schema.service)'"
        #expect(try schema.psql(sessions) == "1")
        for _ in 0..<3 {
            proxy.fail(.deafAfter("beat"))
            #expect(try eventually { lease.trouble != nil })
            proxy.fail(nil)
            #expect(try eventually { try lease.trouble == nil && schema.psql(sessions) == "1" })
        }
        #expect(lease.epoch == 1)
        lease.release(within: .seconds(10))
    }

    @Test("While the tables are locked, it says so, and who holds the lock")
    func locked() throws {
        let times = LeaseTimes(
            beat: .milliseconds(50), hold: .seconds(30), takeAfter: .seconds(60), answer: .milliseconds(500),
            retry: .milliseconds(20))
        let lease = try held(terms(times))
        let holder = try schema.asOwner()
        defer { holder.close() }
        try holder.run([PQStep("BEGIN"), PQStep("LOCK TABLE \(schema.name).beats, \(schema.name).schema")], by: soon())
        let words = "its calls wait for a lock that session \(holder.facts.backend) (role \(schema.owner), tests) holds"
        let isTold = try eventually { lease.trouble == words }
        #expect(isTold, "\(lease.trouble ?? "")")
        try holder.run([PQStep("ROLLBACK")], by: soon())
        #expect(try eventually { lease.trouble == nil && lease.handsOut })
        lease.release(within: .seconds(10))
    }

    @Test("A session whose commit waits for a standby holds its locks, and is not called the one to be ended")
    func lockedByStandby() throws {
        let lock = "pg_advisory_xact_lock(4711)"
        func kindOfWaiting() throws -> DatabaseTrouble.Kind? {
            let waiting = try PQConnection(
                PQTarget(schema.cluster.tcp("user=\(schema.service)")),
                PQSession(applicationName: "tests", lockPatience: .seconds(10)), by: soon(), PQInterruption())
            defer { waiting.close() }
            do throws(PQError) {
                try waiting.run([PQStep("SELECT \(lock)")], by: ContinuousClock.now + .milliseconds(500))
                return nil
            } catch {
                return DatabaseTrouble(error).kind
            }
        }
        let holder = try schema.asService()
        defer { holder.close() }
        try holder.run([PQStep("BEGIN"), PQStep("SELECT \(lock)"), PQStep("CREATE TEMP TABLE written ()")], by: soon())
        #expect(try kindOfWaiting() == .locked)
        try schema.cluster.reload(["synchronous_standby_names": "'nobody'"])
        defer { try? schema.cluster.reload(["synchronous_standby_names": "''"]) }
        #expect(try eventually { try schema.psql("SHOW synchronous_standby_names") == "nobody" })
        let commit = Background { try holder.run([PQStep("COMMIT")], by: soon()) }
        let waits =
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = '\(schema.service)' AND wait_event = 'SyncRep'"
        #expect(try eventually { try schema.psql(waits) == "t" })
        let kind = try kindOfWaiting()
        #expect(kind != .locked && kind != nil)
        try schema.cluster.reload(["synchronous_standby_names": "''"])
        _ = try commit.value()
    }

    @Test("What is wrong is told while the lease goes on trying, and when it is put right, the journal is taken")
    func troubles() throws {
        let later = try OwnSchema(isMade: false)
        let lease = try JournalLease(terms(.long, schema: later))
        #expect(try eventually { lease.trouble?.contains("migrate the schema as its owner first") ?? false })
        try Migrator(schema: later.name).migrate(later.asOwner(), by: soon())
        #expect(try eventually { lease.trouble?.contains("may not use schema") ?? false })
        try Migrator(schema: later.name).migrate(later.asOwner(), service: later.service, by: soon())
        #expect(try eventually { lease.trouble?.contains("has no journal \(journal)") ?? false })
        _ = try Self.made(later)
        #expect(lease.waitToHold(.seconds(20)))
        #expect(lease.trouble == nil)
        lease.release(within: .seconds(10))
    }
}
