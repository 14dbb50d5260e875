import Foundation
import Synchronization
import TestPostgres
import Testing

@testable import HoldfastPQ

/// A server that was the primary, is started again as it was, and can be written to beside the one that was promoted.
@Suite("An old primary that comes back", .serialized, .enabled(if: PostgresProgram.isWanted))
struct OldPrimaryTests {
    /// Both can be written to: the old one on timeline 1, the other on 2.
    private struct Pair {
        let old: Cluster
        let new: Cluster

        init() throws {
            old = try Cluster()
            new = try Cluster(standbyOf: old, name: "copy")
            let streams = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
            #expect(try eventually { try old.psql(streams) == "1" })
            try old.stop(.immediate)
            try new.promote()
        }
    }

    private final class Book: Sendable {
        let servers: PQServers
        let news = Recorded<ServerWarning>()
        let newest = Recorded<[String: UInt32]>()

        init(newest known: [String: UInt32] = [:]) {
            servers = PQServers(
                newest: known, remember: { [newest] in newest.add($0) }, onNews: { [news] in news.add($0) })
        }

        func target(_ text: String) throws -> PQTarget {
            var target = try PQTarget(text)
            target.servers = servers
            return target
        }

        func connect(_ text: String) throws -> PQConnection {
            try target(text).connect(PQSession(applicationName: "tests"), by: soon(), PQInterruption())
        }
    }

    @Test("It is refused where a session lives with the new one, named once, and the next address is taken")
    func comesBack() throws {
        let pair = try Pair()
        let both = "\(pair.old.tcp(or: pair.new)) target_session_attrs=read-write"
        let book = Book()
        let first = try book.connect(both)
        #expect(first.facts.port == "\(pair.new.port)")
        #expect(book.newest.all.map { Array($0.values) } == [[2]] && book.servers.warnings.isEmpty)

        try pair.old.start()
        // What libpq does by itself.
        #expect(try connect(both).facts.port == "\(pair.old.port)")
        for _ in 0..<3 { #expect(try book.connect(both).facts.port == "\(pair.new.port)") }
        let words = book.news.all.map(\.description)
        #expect(words.count == 1 && book.servers.warnings.map(\.description) == words)
        for part in [
            ":\(pair.old.port) is an old primary", ":\(pair.new.port)", "timeline 1", "timeline 2", "Stop it now",
        ] {
            #expect(words.first?.contains(part) == true, "\(words)")
        }
        // Alone it is no server at all.
        let error = #expect(throws: PQError.self) { try book.connect(pair.old.tcp()) }
        #expect(error?.kind == .unreachable && error?.message.contains("is an old primary") == true)
        // A session that was made before is left.
        let early = try connect(pair.old.tcp())
        early.sight.withLock { $0 = try? ServerSight(early, by: soon()) }
        #expect(book.servers.isPassed(early, by: soon()) && !book.servers.isPassed(first, by: soon()))

        // Asked one by one, both are found, until one is stopped.
        let target = try book.target(both)
        let found = target.survey(within: .seconds(5), try PQInterruption())
        #expect(found.rivals.map(\.timeline) == [2, 1])
        book.servers.surveyed(found)
        #expect(book.news.all.count == 1)
        try pair.old.stop(.fast)
        let after = target.survey(within: .seconds(5), try PQInterruption())
        #expect(after.rivals.isEmpty)
        book.servers.surveyed(after)
        #expect(book.servers.warnings.isEmpty)
        first.close()
    }

    @Test(
        "A process that starts takes the newer of both; without it, it goes on with the old one, and warns if it knew better"
    )
    func starts() throws {
        let pair = try Pair()
        try pair.old.start()
        let both = "\(pair.old.tcp(or: pair.new)) target_session_attrs=read-write"
        let fresh = Book()
        #expect(try fresh.connect(both).facts.port == "\(pair.new.port)")
        #expect(fresh.news.all.count == 1 && fresh.news.all.first?.description.contains("is an old primary") == true)
        let known = try #require(fresh.newest.all.last)

        // The same server by two addresses is one.
        let twice = try PQTarget(
            "host=127.0.0.1,localhost port=\(pair.new.port) dbname=postgres sslmode=disable user=plain")
        #expect(twice.survey(within: .seconds(5), try PQInterruption()).rivals.isEmpty)

        try pair.new.stop(.fast)
        let stranger = Book()
        #expect(try stranger.connect(both).facts.port == "\(pair.old.port)")
        #expect(stranger.news.all.isEmpty)
        // So is a backup that was restored: it must be usable.
        let knowing = Book(newest: known)
        let session = try knowing.connect(both)
        #expect(session.facts.port == "\(pair.old.port)")
        let words = knowing.news.all.map(\.description)
        #expect(words.count == 1 && words[0].contains("timeline 2 of its cluster was seen before"), "\(words)")
        #expect(try knowing.connect(both).facts.port == "\(pair.old.port)")
        #expect(knowing.news.all.count == 1 && knowing.newest.all.isEmpty)

        // The newer one is back, and is not moved to by itself: that is for people to decide.
        try pair.new.start()
        knowing.servers.surveyed(try knowing.target(both).survey(within: .seconds(5), try PQInterruption()))
        #expect(
            knowing.servers.warnings.contains {
                $0.description.hasPrefix("two servers of one cluster can be written to")
            })
        #expect(!knowing.servers.isPassed(session, by: soon()))
        session.close()
    }

    @Test("After a failover in order, sessions with the server that is gone are left without a word about it")
    func gone() throws {
        let old = try Cluster()
        let new = try Cluster(standbyOf: old, name: "copy")
        let streams = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        #expect(try eventually { try old.psql(streams) == "1" })
        let both = "\(old.tcp(or: new)) target_session_attrs=read-write"
        let book = Book()
        // Nobody has used it since.
        let idle = try book.connect(both)
        #expect(idle.facts.port == "\(old.port)")
        try old.killHard()
        try new.promote()
        let next = try book.connect(both)
        #expect(next.facts.port == "\(new.port)")
        #expect(idle.isUsable && book.servers.isPassed(idle, by: soon()))
        #expect(book.news.all.isEmpty && book.servers.warnings.isEmpty)
        next.close()
    }

    @Test("A standby, and a server that lets nobody ask, are no old primaries")
    func unknown() throws {
        let pair = try Pair()
        try pair.old.start()
        let book = Book()
        let session = try book.connect(pair.new.tcp())
        try pair.old.psql("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
        #expect(try book.connect(pair.old.tcp()).facts.port == "\(pair.old.port)")
        #expect(book.news.all.isEmpty)
        let standby = try Cluster(standbyOf: pair.new, name: "third")
        #expect(try book.connect(standby.tcp()).facts.isInRecovery)
        session.close()
    }
}

/// What came, in its order.
private final class Recorded<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    var all: [Value] { values.withLock { $0 } }
    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
