internal import Holdfast

/// Where a rule is checked: a service, and a connection to it with what it has reported.
///
/// Confined to the check's task.
final class ConnectorBench {
    let service: any ScriptedService
    let connector: any Connector
    let patience: Duration
    private var recorders: [(connection: any Connection, recorder: ConnectionRecorder)] = []
    private var nextTicket: UInt64 = 1
    private var nextNumber = 1

    init(_ service: any ScriptedService, patience: Duration) {
        self.service = service
        connector = service.connector
        self.patience = patience
    }

    func order(_ order: ServiceOrder) async throws {
        guard try await service.follow(order) else { throw PassedOver() }
    }

    /// One connection, from here on the current one.
    func connect(lingering: Bool = false) async throws -> any Connection {
        let recorder = ConnectionRecorder(connector.confirmationMode, lingers: lingering)
        let connection: any Connection
        do throws(ConnectError) {
            connection = try await connector.connect(recorder.sink)
        } catch {
            throw Deviation("connecting", expected: "a connection", found: "\(error)")
        }
        recorders.append((connection, recorder))
        nextTicket = 1
        return connection
    }

    func connectCumulatively() async throws -> any CumulativeConnection {
        try unwrap("a CumulativeConnection", try await connect() as? any CumulativeConnection)
    }

    var recorder: ConnectionRecorder { recorders[recorders.count - 1].recorder }
    var now: ConnectionRecorder.State { recorder.now }

    /// Hands out so many notifications to the current connection.
    func handOut(_ count: Int, to connection: any Connection) {
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        var tickets: [Ticket] = []
        for _ in 0..<count {
            let range = SampleNotification.append(nextNumber, producer: "default", to: &bytes)
            items.append(EntryBatch.Item(uid: UID(UInt64(nextNumber)), attempts: 0, range: range))
            tickets.append(Ticket(rawValue: nextTicket))
            nextNumber += 1
            nextTicket += 1
        }
        recorder.handingOut(tickets)
        connection.send(HandOut(entries: EntryBatch(bytes: bytes, items: items), tickets: tickets))
    }

    /// How long after the end its events are listened for.
    private static let lateness = Duration.milliseconds(50)

    func until(_ what: String, _ condition: (ConnectionRecorder.State) -> Bool) async throws {
        guard await Patience(patience).wait(for: { condition(recorder.now) }) else {
            throw Deviation(what, expected: "to come within \(patience)", found: "that it did not")
        }
    }

    func untilEnded() async throws -> ConnectionEnd {
        try await until("the end of the connection") { $0.end != nil }
        return try unwrap("the end", now.end)
    }

    /// Closes what is open, lets what comes late come, and looks at what must never be.
    func finish() async throws {
        _ = try await service.follow(.accept)
        for (connection, recorder) in recorders {
            if recorder.now.end == nil { connection.close(deadline: .zero) }
            guard await Patience(patience).wait(for: { recorder.now.end != nil }) else {
                throw Deviation("a connection that was closed", expected: "an end within \(patience)", found: "none")
            }
        }
        // A connector that reports after the end does so when an answer comes.
        try await Task.sleep(for: Self.lateness)
        for (_, recorder) in recorders { try expect("what must never be", recorder.now.violations, is: []) }
    }
}
