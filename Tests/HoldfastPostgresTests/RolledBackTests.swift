import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres
import Testing

@Suite(
    "A database that went back in time", .timeLimit(.minutes(5)), .enabled(if: PostgresProgram.isWanted))
struct RolledBackTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    private func host(_ name: String, _ folder: TemporaryFolder, _ news: News = News()) throws -> Host {
        try Host(schema, name, in: folder, times: .short) { news.tell($0) }
    }

    @Test("What a restored backup lacks is put back by the host that has it, also if it accepts nothing meanwhile")
    func putBack() throws {
        let (folder, news) = (try TemporaryFolder(), News())
        let host = try host("web-1", folder, news)
        let owned = try host.open()
        try add("one", to: owned)
        let dump = try schema.saved()
        try add("two", to: owned)
        owned.close()
        try schema.restore(dump)
        let next = try host.open()
        #expect(try lanes(next) == ["one", "two"] && news.all == ["restored web-1"])
        next.close()
    }

    /// As the service does when a journal has carried all orders out.
    private func carryOut(_ orders: FleetOrders, at owned: OwnedJournal) throws {
        try owned.journal.setNote(KeptPauses.noteName, to: KeptPauses(orders).note)
        try owned.journal.setNote(OrderMark.noteName, to: orders.last?.note)
    }

    @Test("A pause of the fleet that a restored backup lacks is put back once, and not behind its resumption")
    func ordersPutBack() throws {
        let (folders, news) = ([try TemporaryFolder(), try TemporaryFolder()], News())
        let (first, second) = (try host("first", folders[0], news), try host("second", folders[1], news))
        let (calls, connection) = (OrderCalls(schema.name), try schema.asService())
        func give(_ tag: UInt8, pausing: Bool = true) throws {
            _ = try calls.give(.tags([tag]), pausing: pausing, reason: "r", who: "me", connection, by: soon())
        }
        var owned = [try first.open(), try second.open()]
        let dump = try schema.saved()
        for tag in UInt8(1)...3 { try give(tag) }
        let before = try calls.read(connection, by: soon())
        for one in owned { try carryOut(before, at: one) }
        for one in owned { one.close() }
        try schema.restore(dump)
        // Ordered again by somebody who has noticed, and resumed there.
        try give(2)
        try give(3)
        try give(3, pausing: false)
        owned = [try first.open()]
        var after = try first.journals.orders(OpeningStop(), for: owned[0])
        #expect(news.all.filter { $0.hasPrefix("orders") } == ["orders first 3 2 0"])
        let tags = after.all.filter(\.isPause).compactMap { if case .tags(let tag) = $0.subject { tag } else { nil } }
        #expect(Set(tags) == [[1], [2], [3]])
        let back = try #require(after.all.first { $0.subject == .tags([1]) })
        #expect(back.by == before.all[0].by && back.at == before.all[0].at && back.reason == "r")
        // The second host has the same to put back, and is too late for one that was resumed meanwhile.
        try give(1, pausing: false)
        owned.append(try second.open())
        after = try second.journals.orders(OpeningStop(), for: owned[1])
        #expect(news.all.last == "orders second 6 0 0")
        #expect(!after.all.contains { $0.isPause && $0.subject == .tags([1]) })
        // Nothing is lost any more.
        try carryOut(after, at: owned[1])
        _ = try second.journals.orders(OpeningStop(), for: owned[1])
        #expect(news.all.last == "orders second 6 0 0")
        for one in owned { one.close() }
    }

    @Test("A pause of the fleet that the database loses is put back by an owner that lives, too")
    func ordersPutBackByTheLiving() throws {
        let (folder, news) = (try TemporaryFolder(), News())
        let owned = try host("web-1", folder, news).open()
        let (calls, connection) = (OrderCalls(schema.name), try schema.asService())
        let dump = try schema.saved()
        _ = try calls.give(.lanes(nil), pausing: true, reason: "r", who: "me", connection, by: soon())
        try carryOut(try calls.read(connection, by: soon()), at: owned)
        try schema.restore(dump)
        #expect(try eventually { news.all == ["restored web-1", "orders web-1 0 1 0"] })
        let back = try calls.read(try schema.asService(), by: soon()).all
        #expect(back.map(\.subject) == [.lanes(nil)] && back.allSatisfy(\.isPause) && owned.ending == nil)
        owned.close()
    }

    @Test(
        "A journal that another host had delivered is closed by that host once more, before its former owner sends again"
    )
    func claimed() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let news = News()
        let (first, second) = (try host("first", folders[0]), try host("second", folders[1], news))
        let owned = try first.open()
        try add("one", to: owned)
        let dump = try schema.saved()
        owned.close()
        let own = try second.open()
        // Free and closed journals are followed by nobody else: one with something left.
        try schema.psql("UPDATE S.journals SET is_closed = false WHERE name = 'first'")
        let taken = try await takeOver("first", by: second, mine: own)
        try add("two", to: taken)
        taken.close()
        try schema.restore(dump)
        // Its former owner has the copy of the backup's time, and asks first.
        let opening = Background { try first.open() }
        let again = try await takeOver("first", by: second, mine: own)
        #expect(try lanes(again) == ["one", "two"])
        #expect(news.all.filter { $0 == "restored first" }.count == 1)
        let other = try opening.value()
        #expect(other.name == "first#2")
        for journal in [again, own, other] { journal.close() }
    }

    @Test("A copy that is still open when the database comes back is looked at once it is closed")
    func closedLate() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let (first, second) = (try host("first", folders[0]), try host("second", folders[1]))
        let owned = try first.open()
        try add("one", to: owned)
        owned.close()
        let own = try second.open()
        try schema.psql("UPDATE S.journals SET is_closed = false WHERE name = 'first'")
        let dump = try schema.saved()
        let watch = try FleetWatch(second.journals, mine: own.id)
        defer { watch.stop() }
        var arrivals = watch.taken.makeAsyncIterator()
        func next() async throws -> OwnedJournal {
            let found = try #require(await arrivals.next())
            return try second.journals.open(found.journal, taken: found.ownership, OpeningStop())
        }
        let taken = try await next()
        try add("two", to: taken)
        try schema.restore(dump)
        // The watch has looked at it.
        #expect(try eventually { watch.journals.contains { $0.name == "first" && $0.sighting.isFree } })
        taken.close()
        watch.leave(taken.id)
        let opening = Background { try first.open() }
        let again = try await next()
        #expect(try lanes(again) == ["one", "two"])
        let other = try opening.value()
        #expect(other.name == "first#2")
        for journal in [again, own, other] { journal.close() }
    }

    @Test(
        "A copy from a time that the database has forgotten is not written over what came since: it is kept aside, and what waits counts as possibly sent"
    )
    func apart() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder()]
        let news = News()
        let first = try host("first", folders[0])
        let owned = try first.open()
        try add("one", to: owned)
        owned.close()
        let second = try host("second", folders[1], news)
        var own = try second.open()
        try schema.psql("UPDATE S.journals SET is_closed = false WHERE name = 'first'")
        let dump = try schema.saved()
        let taken = try await takeOver("first", by: second, mine: own)
        for lane in ["two", "three", "four"] { try add(lane, to: taken) }
        taken.close()
        own.close()
        try schema.restore(dump)
        // Nobody who knows better is there.
        let since = try host("first", folders[2]).open()
        #expect(since.name == "first")
        try add("since", to: since)
        since.close()
        try schema.psql("UPDATE S.journals SET is_closed = false WHERE name = 'first'")
        own = try second.open()
        let next = try await takeOver("first", by: second, mine: own)
        #expect(try lanes(next) == ["one", "since"])
        #expect(news.all.contains("apart first \(since.id).journal.aside"))
        #expect(try next.journal.status().nextUID.rawValue > UInt64(next.id) << 44 + 1 << 32)
        let reader = try JournalReader(directory: folders[1]("\(since.id).journal.aside"))
        #expect(try reader.status().lanes.map(\.key.route) == ["one", "two", "three", "four"])
        reader.close()
        for journal in [next, own] { journal.close() }
    }

    @Test("A host that is pointed at another database writes nothing of the first into it")
    func anotherDatabase() throws {
        let (folder, news) = (try TemporaryFolder(), News())
        do {
            let owned = try host("web-1", folder).open()
            try add("one", to: owned)
            owned.close()
        }
        let elsewhere = try OwnSchema()
        let owned = try Host(elsewhere, in: folder, times: .short) { news.tell($0) }.open()
        #expect(try lanes(owned) == [] && owned.name == "web-1")
        #expect(news.all == ["foreign web-1 \(owned.id).journal.aside"])
        owned.close()
    }

    @Test("Of its journals, a host goes on with the one that it has more of than the database")
    func ahead() throws {
        let (folder, news) = (try TemporaryFolder(), News())
        let folderOfOther = try TemporaryFolder()
        let busy = try host("web-1", folderOfOther).open()
        let host = try host("web-1", folder, news)
        let owned = try host.open()
        #expect(owned.name == "web-1#2")
        let dump = try schema.saved()
        try add("two", to: owned)
        busy.close()
        owned.close()
        try schema.restore(dump)
        let next = try host.open()
        #expect(try next.name == "web-1#2" && lanes(next) == ["two"])
        next.close()
    }

    @Test(
        "An owner that has nothing to commit notices within seconds that the database lacks commits, and writes them back"
    )
    func idle() async throws {
        let (folder, news) = (try TemporaryFolder(), News())
        let owned = try Host(schema, in: folder, upkeep: .milliseconds(50)) { news.tell($0) }.open()
        try add("one", to: owned)
        try schema.psql("DELETE FROM S.log_\(owned.id)_0 WHERE number = (SELECT max(number) FROM S.log_\(owned.id)_0)")
        #expect(try eventually { news.all.contains { $0.hasPrefix("restored web-1") } })
        try add("two", to: owned)
        #expect(owned.ending == nil)
        owned.close()
        let elsewhere = try TemporaryFolder()
        let next = try Host(schema, in: elsewhere).open()
        #expect(try lanes(next) == ["one", "two"])
        next.close()
    }

    @Test(
        "After a change of the database nobody takes a journal for a while, and then nobody who knows less than another"
    )
    func grace() throws {
        let connection = try schema.asService()
        defer { connection.close() }
        let calls = OwnershipCalls(schema.name)
        func take(grace: Duration, claim: UInt64 = 0, of journal: Int32) throws -> Int64? {
            let seen = try #require(try calls.look(at: journal, connection, by: soon()))
            return try calls.take(journal, seen: seen, host: "h", grace: grace, claim: claim, connection, by: soon())
        }
        let journal = try calls.createJournal("one", connection, by: soon())
        #expect(try take(grace: .seconds(60), of: journal) == 1)
        #expect(try take(grace: .seconds(60), of: journal) == 2)
        try schema.psql("UPDATE S.fleet SET incarnation = 'before a promotion'")
        #expect(try take(grace: .seconds(60), of: journal) == nil)
        // One that nobody had.
        #expect(try take(grace: .seconds(60), of: try calls.createJournal("new", connection, by: soon())) == 1)
        #expect(try take(grace: .zero, of: journal) == 3)
        try schema.psql("INSERT INTO S.claims SELECT \(journal), 7, incarnation, now() FROM S.fleet")
        #expect(try take(grace: .zero, claim: 6, of: journal) == nil)
        #expect(try take(grace: .zero, claim: 7, of: journal) == 4)
        try schema.psql("UPDATE S.claims SET at = now() - INTERVAL '2 minutes'")
        #expect(try take(grace: .zero, of: journal) == 5)
    }

    @Test(
        "Who claims a journal says for how long that counts, an earlier program's claim counts for a minute, and the later end of two counts"
    )
    func claimsEnd() throws {
        let log = try OwnLog(schema)
        func end(_ call: String) throws -> Int {
            try schema.psql("SELECT S.claim_journal(\(log.journal), \(call))")
            let rest = "SELECT ceil(extract(epoch FROM at + lasting - clock_timestamp()) / 5) * 5 FROM S.claims"
            return try #require(Int(try schema.psql(rest)))
        }
        #expect(try end("7, 600000") == 600)
        try schema.psql("DELETE FROM S.claims")
        #expect(try end("7, 10000") == 10)
        #expect(try end("7, 20000") == 20)
        #expect(try end("7") == 60)
        #expect(try end("7, 10000") == 60)
        #expect(try schema.psql("SELECT count(*) FROM S.claims") == "1")
    }
}

@Suite("Who has written a journal")
struct LineageTests {
    private let a = "a"
    private let b = "b"
    private let c = "c"

    @Test("A copy is behind, ahead or apart by who has written the last commit that both have")
    func standing() {
        let first = Lineage().adding(a, after: 0)
        let second = first.adding(b, after: 20)
        func standing(_ copy: UInt64, _ one: Lineage, _ log: UInt64, _ two: Lineage) -> Lineage.Standing {
            Lineage.standing(copy: (copy, one), log: (log, two))
        }
        #expect(standing(20, first, 20, second) == .behind)
        #expect(standing(10, first, 30, second) == .behind)
        #expect(standing(30, second, 20, first) == .ahead)
        #expect(standing(25, first, 20, first) == .ahead)
        // The other has gone on from 20.
        #expect(standing(25, first, 30, second) == .apart)
        #expect(standing(30, second, 30, first.adding(c, after: 20)) == .apart)
        #expect(standing(0, Lineage(), 30, second) == .behind)
        #expect(standing(9, first, 0, Lineage()) == .ahead)
    }

    @Test("An ownership that has written nothing is forgotten with the next, and the oldest of hundreds too")
    func bounded() {
        let idle = Lineage().adding(a, after: 0).adding(b, after: 5).adding(c, after: 5)
        #expect(idle.ownerships == [.init(first: 1, stamp: a), .init(first: 6, stamp: c)])
        var many = Lineage()
        for number in 0..<1000 { many = many.adding("\(number)", after: UInt64(number)) }
        #expect(many.ownerships.count == 256 && many.writer(of: 1000) == "999" && many.writer(of: 1) == nil)
    }
}
