import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Synchronization
import TestPostgres
import Testing

@Suite("Repeats at another host", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct IdentitiesTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    private func host(_ log: OwnLog? = nil, port: Int? = nil, answer: Duration = .seconds(30)) throws -> SQLHost {
        try SQLHost(log ?? OwnLog(schema), port: port, answer: answer)
    }

    private func rows() throws -> String { try schema.psql("SELECT count(*) FROM S.identities") }

    @Test("It gets the receipt of the first, and is not sent again; with another payload it is another notification")
    func repeats() async throws {
        let hosts = [try host(), try host()]
        for host in hosts { host.deliver() }
        let named = [NotificationID(), NotificationID()].map { notification(1, id: $0) }
        let first = await hosts[0].uids([named[0]])
        let second = await hosts[1].uids([notification(2), named[0], named[1], notification(1, id: named[0].id, "b")])
        #expect(second[1] == first[0] && Set(second).count == 4)
        // Both ways, and what came in between of the same commit.
        #expect(await hosts[0].uids([named[1], notification(3), named[1]])[0] == second[2])
        #expect(await hosts[1].uids([named[0]]) == first)
        // Nobody waits for an outcome that is told elsewhere.
        await #expect(throws: DeliveryError.acceptedElsewhere(first[0])) {
            try await hosts[1].engine.deliver(named[0])
        }
        #expect(try eventually { hosts.map(\.connector.sent.count).reduce(0, +) == 5 })
        #expect(try rows() == "3" && schema.psql("SELECT count(*) FROM S.identities WHERE uid >> 44 = 1") == "1")
        for host in hosts { await host.end() }
        #expect(hosts[0].connector.sent.count == 2)
    }

    @Test("Without an apns-id of the sender's nothing is remembered, and commits are kept as before")
    func unnamed() async throws {
        let host = try host()
        _ = await host.uids([notification(1)])
        var assigned = notification(2, id: NotificationID())
        assigned.hasAssignedID = true
        _ = await host.uids([assigned])
        #expect(try rows() == "0")
        await host.end()
    }

    @Test("Of hosts that take the same at one instant, exactly one has each notification")
    func atOnce() async throws {
        let hosts = [try host(), try host(), try host()]
        let all = (0..<300).map { notification($0, id: NotificationID()) }
        let uids = await withTaskGroup(of: [UID].self) { group in
            for (number, host) in hosts.enumerated() {
                group.addTask {
                    var uids = Array(repeating: UID.none, count: all.count)
                    // Each in an order and in commits of its own.
                    let order = all.indices.sorted { $0 * (number * 2 + 7) % 301 < $1 * (number * 2 + 7) % 301 }
                    for start in stride(from: 0, to: all.count, by: 20) {
                        let part = order[start..<start + 20]
                        for (index, uid) in zip(part, await host.uids(part.map { all[$0] })) { uids[index] = uid }
                    }
                    return uids
                }
            }
            return await group.reduce(into: [[UID]]()) { $0.append($1) }
        }
        #expect(uids[0] == uids[1] && uids[1] == uids[2])
        #expect(Set(uids[0]).count == all.count && !uids[0].contains(.none))
        #expect(try rows() == "300")
        let entries = try hosts.map { try $0.journal.status().unconfirmed }
        #expect(entries.reduce(0, +) == all.count)
        for host in hosts { await host.end() }
    }

    @Test(
        "A commit in doubt, repeated until it is known, is one of its own, not a repeat",
        arguments: [
            FaultProxy.Fault.cutBefore("keep_commit_claiming"), .cutShort("keep_commit_claiming", by: 30),
            .cutAfter("keep_commit_claiming"), .silentAfter("keep_commit_claiming"),
        ])
    func inDoubt(fault: FaultProxy.Fault) async throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let isSilent = fault == .silentAfter("keep_commit_claiming")
        let one = try host(port: proxy.port, answer: isSilent ? .milliseconds(300) : .seconds(30))
        _ = await one.uids([notification(0, id: NotificationID())])
        let all = (0..<5).map { notification($0, id: NotificationID()) }
        proxy.fail(fault)
        async let waiting = one.uids(all)
        #expect(try eventually { one.gate.status.trouble != nil })
        proxy.fail(nil)
        let uids = await waiting
        #expect(Set(uids).count == 5 && !uids.contains(.none))
        #expect(try one.journal.status().unconfirmed == 6 && rows() == "6")
        let other = try host()
        #expect(await other.uids(all) == uids)
        for host in [one, other] { await host.end() }
    }

    @Test("A host that is killed between the commit and its answer, and whoever takes its journal over")
    func killed() async throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let log = try OwnLog(schema)
        let one = try host(log, port: proxy.port)
        _ = await one.uids([notification(0)])
        let named = notification(1, id: NotificationID())
        proxy.fail(.silentAfter("keep_commit_claiming"))
        one.engine.producer.submit([named]) { _ in }
        #expect(try eventually { try rows() == "1" })
        one.kill()
        let other = try host()
        let uids = await other.uids([named])
        #expect(uids[0].rawValue >> 44 == UInt64(log.journal))
        #expect(try other.journal.status().unconfirmed == 0)
        let taken = try host(log)
        #expect(await taken.uids([named]) == uids)
        taken.deliver()
        #expect(try eventually { taken.connector.sent.count == 2 })
        for host in [other, taken] { await host.end() }
    }

    @Test("Rows of the outbox whose notifications another host has are taken with the commit that finds it out")
    func bySQL() async throws {
        let hosts = [try host(), try host()]
        let id = UUID()
        let submit =
            "SELECT S.submit(topic => 'topic', token => 'aa', payload => '{\"aps\": {}}', id => '\(id)')"
        for (number, host) in hosts.enumerated() {
            _ = try schema.asApplication(submit)
            try host.takeIn()
            #expect(try eventually { host.intake?.status.taken == 1 })
            #expect(try schema.outboxCount == "0")
            #expect(try host.journal.status().unconfirmed == 1 - number)
            host.intake?.stop(within: .seconds(5))
        }
        for host in hosts { await host.end() }
    }
}

@Suite("Identities by SQL", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct IdentityCallsTests {
    private let schema: OwnSchema
    private let logs: [OwnLog]
    private let connections: [PQConnection]
    private let calls: IdentityCalls

    init() throws {
        let schema = try OwnSchema()
        self.schema = schema
        logs = try (0..<2).map { _ in try OwnLog(schema) }
        connections = try (0..<2).map { _ in try schema.asService() }
        calls = IdentityCalls(schema.name)
    }

    private func claim(_ key: UInt64, _ journal: Int, _ uid: UInt64) -> CommitClaim {
        CommitClaim(high: 0x8000_0000_0000_0000 | key, low: key, value: UInt64(journal) << 44 | uid)
    }

    private func keep(_ number: UInt64, _ claims: [CommitClaim], of journal: Int) throws -> [CommitClaim] {
        let log = logs[journal]
        return try log.calls.keep(
            number, [[UInt8(number)]], claiming: claims, epoch: log.epoch, connections[journal], by: soon())
    }

    private func turn(_ age: Duration = .seconds(3600), limit: Int = 1_000_000) throws -> Bool {
        let connection = try schema.asService()
        defer { connection.close() }
        return try calls.turn(age: age, limit: limit, connection, by: soon())
    }

    private func state(_ body: () throws -> Void) throws -> String? {
        do {
            try body()
            return nil
        } catch let error as PQError { return error.sqlState }
    }

    @Test("A commit is kept with all of its identities, or not at all; a repeat is answered as the first time")
    func keeps() throws {
        let first = (1...3).map { claim($0, 0, $0) }
        for _ in 0..<2 { #expect(try keep(1, first, of: 0) == []) }
        let others = (2...5).map { claim($0, 1, $0) }
        for _ in 0..<2 {
            let found = try keep(1, others, of: 1)
            #expect(Set(found) == [first[1], first[2]])
        }
        #expect(try logs[1].kept() == "" && logs[0].kept() == "1")
        #expect(try keep(1, [others[2]], of: 1) == [])
        #expect(try schema.psql("SELECT count(*) FROM S.identities") == "4")
        // One that the journal has forgotten since is new to it, and others find the new one.
        #expect(try keep(2, [claim(1, 0, 7)], of: 0) == [])
        #expect(try keep(2, [claim(1, 1, 9)], of: 1) == [claim(1, 0, 7)])
        let key = try calls.key(connections[0], by: soon())
        #expect(try calls.key(connections[1], by: soon()) == key && key != (0, 0))
        // A former owner learns nothing.
        try logs[1].take()
        #expect(try state { _ = try keep(2, first, of: 1) } == "HF001")
        #expect(try state { _ = try keep(3, [claim(9, 1, 9)], of: 1) } == "HF001")
        #expect(try schema.psql("SELECT count(*) FROM S.identities") == "4")
    }

    @Test("Of two commits under way with one identity, the other waits for the end, and is refused or kept by it")
    func underWay() throws {
        for isKept in [true, false] {
            let key: UInt64 = isKept ? 1 : 2
            try connections[0].run([.begin], by: soon())
            #expect(try keep(isKept ? 1 : 2, [claim(key, 0, key)], of: 0) == [])
            let (log, connection, claims) = (logs[1], Handed(connections[1]), [claim(key, 1, key)])
            let other = Background {
                try log.calls.keep(1, [[1]], claiming: claims, epoch: log.epoch, connection.value, by: soon())
            }
            let waits =
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '\(schema.name)'"
            #expect(try eventually { try schema.psql(waits) == "1" })
            try connections[0].run([isKept ? .commit : PQStep("ROLLBACK")], by: soon())
            if isKept {
                #expect(try state { _ = try other.value() } == LogRefusal.claimedMeanwhile)
                #expect(try keep(1, claims, of: 1) == [claim(1, 0, 1)])
                #expect(try logs[1].kept() == "")
            } else {
                #expect(try other.value() == [])
            }
        }
    }

    @Test("Many commits that share identities, in any order, don't wait for each other in a circle")
    func noCircle() throws {
        let found = Mutex<[Int]>([])
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'"
        let before = try schema.psql(deadlocks)
        let all = try (0..<2).map { journal in
            let gate = try logs[journal].gate()
            return Background {
                var kept = 0
                for round in 0..<20 {
                    let claims = (0..<40).map { index -> CommitClaim in
                        let key = UInt64(round * 40 + (journal == 0 ? index : 39 - index))
                        return CommitClaim(
                            high: key &* 0x9E37_79B9_7F4A_7C15, low: key,
                            value: UInt64(journal) << 44 | UInt64(round * 40 + index + 1))
                    }
                    if case .kept = try gate.keep([1, 2, 3], taking: [], claiming: claims) { kept += 1 }
                }
                found.withLock { $0.append(kept) }
            }
        }
        for one in all { try one.value() }
        #expect(found.withLock { $0.reduce(0, +) } == 20)
        #expect(try schema.psql("SELECT count(*), count(DISTINCT identity) FROM S.identities") == "800|800")
        #expect(try schema.psql(deadlocks) == before)
    }

    @Test("No turn misses a commit under way: it waits for another time, and what was filled before is still found")
    func turns() throws {
        #expect(try !turn(.zero))
        #expect(try keep(1, [claim(1, 0, 1)], of: 0) == [])
        try connections[0].run([.begin], by: soon())
        #expect(try keep(2, [claim(2, 0, 2)], of: 0) == [])
        #expect(try !turn(limit: 1))
        try connections[0].run([.commit], by: soon())
        #expect(try turn(limit: 1))
        #expect(try keep(3, [claim(3, 0, 3)], of: 0) == [])
        #expect(try schema.psql("SELECT string_agg(slot::text, ',' ORDER BY uid) FROM S.identities") == "0,0,1")
        #expect(Set(try keep(1, (1...4).map { claim($0, 1, $0) }, of: 1)) == Set((1...3).map { claim($0, 0, $0) }))
        // While somebody reads, nothing is truncated, and commits go on.
        let reader = schema.cluster.tcp("user=postgres")
        let reading = try PQConnection(
            PQTarget(reader), PQSession(applicationName: "tests"), by: soon(), PQInterruption())
        try reading.run([.begin, PQStep("SELECT FROM \(schema.name).identities")], by: soon())
        #expect(try turn(limit: 1))
        #expect(try !turn(limit: 0))
        #expect(try keep(4, [claim(4, 0, 4)], of: 0) == [])
        #expect(Set(try keep(1, (1...5).map { claim($0, 1, $0) }, of: 1)) == Set((1...4).map { claim($0, 0, $0) }))
        reading.close()
    }

    @Test("At least as many are remembered as there should be, and at most half as many again; and the same by age")
    func bounded() throws {
        // Of 60 bytes a row, with whole pages.
        let (limit, page) = (1_000, 130)
        var (key, greatest): (UInt64, Int) = (0, 0)
        for number in 1...24 {
            let claims = (0..<page).map { _ -> CommitClaim in
                key += 1
                return claim(key, 0, key)
            }
            #expect(try keep(UInt64(number), claims, of: 0) == [])
            _ = try calls.turn(age: .seconds(3600), limit: limit, connections[1], by: soon())
            let (count, least) = try remembered()
            greatest = max(greatest, count)
            #expect(least <= max(1, Int(key) - limit), "\(number)")
        }
        #expect(greatest < limit * 3 / 2 + 4 * page && greatest >= limit)
        // An age of nothing at all lets go of everything before the present ones.
        for _ in 0..<2 { _ = try turn(.zero) }
        #expect(try remembered().count == 0)
    }

    private func remembered() throws -> (count: Int, least: Int) {
        let both = try schema.psql("SELECT count(*), coalesce(min(uid), 0) FROM S.identities").split(separator: "|")
        return (try #require(Int(both[0])), try #require(Int(both[1])))
    }

    @Test("What a copy remembers is added again, and what others have since stays theirs")
    func restores() throws {
        #expect(try keep(1, [claim(1, 0, 1)], of: 0) == [])
        #expect(try keep(1, [claim(2, 1, 2)], of: 1) == [])
        let claims = (1...3).map { claim($0, 0, $0) }
        for _ in 0..<2 {
            try calls.restore(claims, of: logs[0].journal, epoch: logs[0].epoch, connections[0], by: soon())
        }
        #expect(Set(try keep(2, (1...4).map { claim($0, 1, $0 + 9) }, of: 1)) == [claims[0], claims[2]])
        #expect(try schema.psql("SELECT uid & 255 FROM S.identities WHERE journal = \(logs[1].journal)") == "2")
        #expect(
            try state { try calls.restore([], of: logs[0].journal, epoch: 0, connections[0], by: soon()) } == "HF001")
    }
}

@Suite("Repeats at another host, and standbys", .serialized, .enabled(if: PostgresProgram.isWanted))
struct IdentityStandbyTests {
    @Test("Nobody is told of a first commit before the standby has it")
    func standbyAway() async throws {
        let cluster = try Cluster()
        let schema = try OwnSchema(cluster)
        let hosts = [try SQLHost(OwnLog(schema)), try SQLHost(OwnLog(schema), answer: .milliseconds(700))]
        let named = notification(1, id: NotificationID())
        let first = await hosts[0].uids([named])
        _ = await hosts[1].uids([notification(2)])
        let (logs, connection) = (try (0..<2).map { _ in try OwnLog(schema) }, try schema.asService())
        let claims = [CommitClaim(high: 1, low: 1, value: 1)]
        try logs[0].calls.keep(1, [[1]], claiming: claims, epoch: logs[0].epoch, connection, by: soon())
        // It is as if the standby had not got the first commit.
        try cluster.reload(["synchronous_standby_names": "'nobody'"])
        #expect(try eventually { try cluster.psql("SHOW synchronous_standby_names") == "nobody" })
        #expect(throws: PQError.self) {
            try logs[1].calls.keep(
                1, [[1]], claiming: claims, epoch: logs[1].epoch, connection, by: .now + .milliseconds(300))
        }
        let answered = Mutex<[Receipt]?>(nil)
        hosts[1].engine.producer.submit([named]) { receipts in answered.withLock { $0 = receipts } }
        #expect(try eventually { hosts[1].gate.status.trouble != nil })
        usleep(400_000)
        #expect(answered.withLock { $0 } == nil)
        try cluster.psql("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
        #expect(try eventually { answered.withLock { $0 != nil } })
        #expect(answered.withLock { $0?.compactMap(\.uid) } == first)
        for host in hosts { await host.end() }
    }
}

private func notification(_ number: Int, id: NotificationID? = nil, _ text: String = "a") -> PushNotification {
    let hex = String(number, radix: 16)
    let token = String(repeating: "0", count: 8 - hex.count) + hex
    return PushNotification(
        token: try! DeviceToken(token), topic: "topic", payload: Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8), id: id)
}

extension SQLHost {
    /// The UIDs of receipts, and none for other answers.
    fileprivate func uids(_ notifications: [PushNotification]) async -> [UID] {
        await engine.producer.submit(notifications).map { $0.uid ?? .none }
    }
}
