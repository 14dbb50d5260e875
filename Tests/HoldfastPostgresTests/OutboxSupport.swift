import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Scratch
import TestPostgres
import Testing

/// The statements of an application.
extension OwnSchema {
    /// Submits so many notifications at once, to tokens that tell them apart, as the application's role.
    ///
    /// - Returns: their apns-ids.
    @discardableResult
    func submit(_ range: Range<Int>, topic: String = "topic", more: String = "") throws -> [String] {
        try asApplication(
            """
            SELECT unnest(S.submit_many((SELECT jsonb_agg(jsonb_build_object('topic', '\(topic)', 'token',
                lpad(to_hex(n), 8, '0'), 'payload', '{"aps": {"alert": "Hi"}}'::jsonb, 'tag', 'n' || n \(more)))
                FROM generate_series(\(range.lowerBound), \(range.upperBound - 1)) AS n)))
            """
        ).split(separator: "\n").map(String.init)
    }

    func asApplication(_ sql: String) throws -> String {
        try psql("SET SESSION AUTHORIZATION \(submitter)", sql)
    }

    /// Rows of the outbox, and of the table of outcomes.
    var outboxCount: String { get throws { try psql("SELECT count(*) FROM S.outbox") } }
    var outcomeCount: String { get throws { try psql("SELECT count(*) FROM S.outcomes") } }
}

extension OutboxCalls {
    /// As a host whose clock is right.
    func claim(
        _ most: Int, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [OutboxRow] {
        try claim(most, at: EngineClock.system.wall(), connection, by: deadline)
    }
}

/// A host with a journal of its own in a schema: all but what seeks and keeps the journal.
final class SQLHost: @unchecked Sendable {  // of one test's thread
    let log: OwnLog
    let epoch: Int64
    let gate: PostgresGate
    let journal: LMDBJournal
    let engine: PushEngine
    let connector: InMemoryConnector
    private let folder: TemporaryFolder
    private var running: Task<Void, Never>?
    private(set) var intake: OutboxIntake?
    private(set) var outlet: OutcomeOutlet?
    /// What the outlet says of how far outcomes are told, one by one.
    let told = Monitor<[OutcomeCursor]>([])
    /// How many it says are gone.
    let missed = Monitor(0)

    /// Takes the journal over, or opens it the first time.
    ///
    /// - Parameter port: of a proxy that the gate's connection goes through.
    init(
        _ log: OwnLog, port: Int? = nil, answer: Duration = .seconds(30), entryLimit: Int? = nil,
        connector: InMemoryConnector = InMemoryConnector(), ownership: (any JournalOwnership)? = nil
    ) throws {
        (self.log, self.connector) = (log, connector)
        epoch = try log.take()
        folder = try TemporaryFolder()
        let directory = folder("host.journal")
        // The directory is a new journal's, all but the entries.
        try LMDBJournal(directory: directory).close()
        for name in ["data.mdb", "lock.mdb"] {
            try FileManager.default.removeItem(atPath: directory + "/entries/" + name)
        }
        let connection = try log.schema.asService()
        let place = try log.builder(epoch: epoch).build(in: directory + "/entries", over: connection)
        let key = try IdentityCalls(log.schema.name).key(connection, by: soon())
        connection.close()
        if place.number == 0 {
            try FileManager.default.removeItem(atPath: directory)
        }
        gate = try log.gate(after: place.number, epoch: epoch, port: port, answer: answer)
        var options = JournalOptions()
        options.durability = .process
        options.gate = gate
        options.entryLimit = entryLimit
        options.ownership = ownership
        options.uidBase = UInt64(log.journal) << 44
        options.repeatKey = IdentityKey(first: key.first, second: key.second)
        journal = try LMDBJournal(directory: directory, options: options)
        engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector, topics: ["topic", "other"])])
    }

    func deliver() { running = Task.detached { [engine] in try? await engine.run() } }

    /// - Parameters:
    ///   - room: how many rows may be claimed that nobody has.
    ///   - leavesRefused: whether others are to have what the journal refuses.
    func takeIn(
        isNew: Bool = true, batch: Int = 1000, port: Int? = nil, room: @escaping @Sendable () -> Int = { .max },
        leavesRefused: @escaping @Sendable () -> Bool = { false }
    ) throws {
        let target = try PQTarget(log.schema.cluster.tcp("user=\(log.schema.service)", port: port))
        var terms = OutboxIntake.Terms(
            target: target, schema: log.schema.name, journal: log.journal, epoch: epoch, takesNew: isNew, batch: batch)
        terms.room = room
        terms.leavesRefused = leavesRefused
        intake = try OutboxIntake(terms, into: engine)
    }

    func tell(all: Bool = false, port: Int? = nil) throws {
        let target = try PQTarget(log.schema.cluster.tcp("user=\(log.schema.service)", port: port))
        var terms = OutcomeOutlet.Terms(
            target: target, schema: log.schema.name, journal: log.journal, epoch: epoch, tellsAll: all)
        terms.onTold = { [told] cursor in told.withLock { $0.append(cursor) } }
        terms.onMissed = { [missed] count in missed.withLock { $0 += count } }
        outlet = try OutcomeOutlet(terms, of: engine.outcomeReading)
    }

    var calls: OutboxCalls { OutboxCalls(log.schema.name, journal: log.journal, epoch: epoch) }

    /// Leaves everything as it is, as a kill does: nothing is released, and nothing more is done.
    func kill() {
        gate.stop()
        intake?.stop(within: .zero)
        outlet?.stop(within: .zero)
        running?.cancel()
        journal.close()
    }

    func end() async {
        intake?.stop(within: .seconds(10))
        running?.cancel()
        await running?.value
        outlet?.stop(within: .seconds(10))
        gate.stop()
        journal.close()
    }
}
