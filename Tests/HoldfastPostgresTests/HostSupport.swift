import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres

/// A host with a directory and a clock of its own.
struct Host {
    let journals: HostJournals
    let clock = LeaseHost()

    init(
        _ schema: OwnSchema, _ name: String = "web-1", in folder: TemporaryFolder, times: LeaseTimes = .long,
        upkeep: Duration = .seconds(10), port: Int? = nil, keys: JournalKeys? = nil,
        onNews: @escaping @Sendable (HostNews) -> Void = { _ in }
    ) throws {
        let target = try PQTarget(schema.cluster.tcp("user=\(schema.service)", port: port))
        var options = JournalOptions()
        options.keys = keys
        let terms = HostTerms(
            target: target, schema: schema.name, host: name, options: options, times: times, clock: clock.clock,
            answer: .seconds(20),
            closing: .seconds(1), upkeep: upkeep)
        journals = HostJournals(terms, try HostDirectory(folder.path), onNews: onNews)
    }

    func open() throws -> OwnedJournal { try journals.openOwn(OpeningStop()) }
}

func lanes(_ owned: OwnedJournal) throws -> [String] { try owned.journal.status().lanes.map(\.key.route) }

func add(_ lane: String, to owned: OwnedJournal) throws {
    _ = try owned.journal.openLane(LaneKey(route: lane, urgency: .immediate, guarantee: .atLeastOnce))
}
