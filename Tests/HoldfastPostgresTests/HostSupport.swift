import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import Scratch
import Synchronization
import TestPostgres

/// A host with a directory and a clock of its own.
struct Host {
    let journals: HostJournals
    let clock = LeaseHost()

    init(
        _ schema: OwnSchema, _ name: String = "web-1", in folder: TemporaryFolder, times: LeaseTimes = .long,
        upkeep: Duration = .seconds(10), port: Int? = nil, string: String? = nil, keys: JournalKeys? = nil,
        clock other: EngineClock? = nil, onNews: @escaping @Sendable (HostNews) -> Void = { _ in }
    ) throws {
        let target = try PQTarget(string ?? schema.cluster.tcp("user=\(schema.service)", port: port))
        var options = JournalOptions()
        options.keys = keys
        let terms = HostTerms(
            target: target, schema: schema.name, host: name, options: options, times: times,
            clock: other ?? clock.clock, answer: .seconds(20),
            closing: .seconds(1), upkeep: upkeep)
        journals = HostJournals(terms, try HostDirectory(folder.path), onNews: onNews)
    }

    func open() throws -> OwnedJournal { try journals.openOwn(OpeningStop()) }
}

/// What hosts say of a database that went back in time.
final class News: Sendable {
    private let told = Mutex<[String]>([])

    var all: [String] { told.withLock { $0 } }

    func tell(_ news: HostNews) {
        switch news {
        case .away, .waiting, .goesOn: break
        case .restored(let journal, _, _): told.withLock { $0.append("restored \(journal)") }
        case .setAside(let journal, let copy, .foreign):
            told.withLock { $0.append("foreign \(journal) \(copy.split(separator: "/").last ?? "")") }
        case .setAside(let journal, let copy, .apart):
            told.withLock { $0.append("apart \(journal) \(copy.split(separator: "/").last ?? "")") }
        case .inDoubt(let journal, _): told.withLock { $0.append("doubt \(journal)") }
        case .ordersLost(let journal, let number, let back, let refused):
            told.withLock { $0.append("orders \(journal) \(number) \(back.count) \(refused.count)") }
        }
    }
}

func lanes(_ owned: OwnedJournal) throws -> [String] { try owned.journal.status().lanes.map(\.key.route) }

func add(_ lane: String, to owned: OwnedJournal) throws {
    _ = try owned.journal.openLane(LaneKey(route: lane, urgency: .immediate, guarantee: .atLeastOnce))
}

/// Waits until a host has taken a journal of another over, and opens it.
func takeOver(_ name: String, by other: Host, mine: OwnedJournal) async throws -> OwnedJournal {
    let watch = try FleetWatch(other.journals, mine: mine.id)
    defer { watch.stop() }
    for await found in watch.taken where found.journal.name == name {
        return try other.journals.open(found.journal, taken: found.ownership, OpeningStop())
    }
    throw JournalError(.notFound, "\(name) was not taken")
}

extension OwnSchema {
    /// All of it, as a backup has it.
    func saved() throws -> String {
        try PostgresProgram.run("pg_dump", ["-n", name.description, "-d", cluster.socket])
    }

    /// As an operator does who restores a backup: all of it is as it was, in new tables.
    func restore(_ dump: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("dump.sql", dump)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try psql("DROP SCHEMA \(name) CASCADE")
        try PostgresProgram.run("psql", ["-Xq", "-v", "ON_ERROR_STOP=1", "-f", folder("dump.sql"), cluster.socket])
    }
}
