import Holdfast
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Scratch
import Synchronization
import TestPostgres
import Testing

/// A journal in PostgreSQL that hosts take from each other, each with a directory, and with a way to the database of its own.
private final class SharedInPostgres: SharedJournal {
    private struct Host {
        let journals: HostJournals
        let proxy: FaultProxy
        var owned: OwnedJournal?
    }

    private struct State {
        var hosts: [Int: Host] = [:]
        var journal: Int32?
        /// The last commit before one that is to arrive.
        var last: UInt64?
    }

    private let log: OwnLog
    private let folder: TemporaryFolder
    private let state = Mutex(State())

    init() throws {
        log = try OwnLog()
        folder = try TemporaryFolder()
    }

    private var schema: OwnSchema { log.schema }

    private func host(_ number: Int) throws -> Host {
        if let known = state.withLock({ $0.hosts[number] }) { return known }
        let proxy = try FaultProxy(to: schema.cluster.port)
        let target = try PQTarget(schema.cluster.tcp("user=\(schema.service)", port: proxy.port))
        let terms = HostTerms(
            target: target, schema: schema.name, host: "\(log.journal)-\(number)", times: .long, answer: .seconds(20),
            closing: .milliseconds(100))
        let host = Host(
            journals: HostJournals(terms, try HostDirectory(folder("\(number)"))), proxy: proxy, owned: nil)
        state.withLock { $0.hosts[number] = host }
        return host
    }

    func take(by number: Int) throws -> any Journal {
        let host = try host(number)
        let owned =
            try state.withLock(\.journal).map { try take($0, by: host) }
            ?? host.journals.openOwn(OpeningStop())
        state.withLock { state in
            state.journal = owned.id
            state.hosts[number]?.owned = owned
        }
        return owned.journal
    }

    private func take(_ journal: Int32, by host: Host) throws -> OwnedJournal {
        if let last = state.withLock(\.last) { try #require(try eventually { try self.last(of: journal) > last }) }
        let calls = OwnershipCalls(schema.name)
        let connection = try schema.asService()
        defer { connection.close() }
        while true {
            let found = try calls.list(connection, by: soon()).first { $0.id == journal }
            let listed = try #require(found)
            let sent = LeaseHost.now
            // A beat of its owner may come between.
            guard
                let epoch = try calls.take(
                    journal, seen: listed.sighting, host: host.journals.terms.host, connection, by: soon())
            else { continue }
            return try host.journals.open(listed, taken: .init(epoch: epoch, sent: sent), OpeningStop())
        }
    }

    func leave(by number: Int) throws {
        let owned = state.withLock { state in
            defer { state.hosts[number]?.owned = nil }
            return state.hosts[number]?.owned
        }
        owned?.close()
    }

    func cut(_ number: Int, arrives: Bool) {
        let (host, journal) = state.withLock { ($0.hosts[number], $0.journal) }
        if arrives, let journal {
            do {
                let last = try last(of: journal)
                state.withLock { $0.last = last }
            } catch {
                Issue.record(error)
            }
        }
        host?.proxy.fail(arrives ? .cutAfter("keep_commit") : .cutBefore("keep_commit"))
    }

    func mend(_ number: Int) {
        state.withLock { state in
            state.last = nil
            return state.hosts[number]?.proxy
        }?.fail(nil)
    }

    func now() -> Duration { LeaseHost.now }

    private func last(of journal: Int32) throws -> UInt64 {
        let connection = try schema.asService()
        defer { connection.close() }
        return try LogCalls(schema.name, journal: journal).state(connection, by: soon()).last
    }
}

@Suite(
    "A journal in PostgreSQL keeps the rules of takeovers", .timeLimit(.minutes(2)),
    .enabled(if: PostgresProgram.isWanted))
struct TakeoverConformanceTests {
    /// Three beside each other, since each waits most of the time, and takes up to twenty of the server's sessions.
    @Test("All rules") func keeps() async {
        let rules = SharedJournalConformance.rules
        await withTaskGroup(of: Void.self) { tasks in
            for first in 0..<3 {
                tasks.addTask {
                    for index in stride(from: first, to: rules.count, by: 3) { await keeps(rules[index]) }
                }
            }
        }
    }

    private func keeps(_ rule: SharedJournalConformance.Rule) async {
        do {
            try await SharedJournalConformance(make: { try SharedInPostgres() }).check(rule)
        } catch {
            Issue.record(error)
        }
    }
}
