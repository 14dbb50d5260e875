import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastPQ
import HoldfastPostgres
import HoldfastService
import HoldfastTesting
import Synchronization
import TestPostgres
import Testing

@Suite("Operators' requests through the database", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct FleetDeskTests {
    private let schema: OwnSchema
    private let calls: CommandCalls

    init() throws {
        schema = try OwnSchema()
        calls = CommandCalls(schema.name)
    }

    /// A journal that a host has just taken.
    private func journal(_ name: String, host: String) throws -> (id: Int32, epoch: Int64) {
        let connection = try schema.asService()
        defer { connection.close() }
        let ownership = OwnershipCalls(schema.name)
        let id = try ownership.createJournal(name, connection, by: soon())
        let seen = try #require(try ownership.look(at: id, connection, by: soon()))
        return (id, try #require(try ownership.take(id, seen: seen, host: host, connection, by: soon())))
    }

    private func target(_ port: Int? = nil) throws -> PQTarget {
        try PQTarget(schema.cluster.tcp("user=\(schema.service)", port: port))
    }

    private func server(_ host: String, port: Int? = nil, interval: Duration = .seconds(10)) throws -> CommandServer {
        try CommandServer(
            CommandServer.Terms(target: target(port), schema: schema.name, host: host, interval: interval))
    }

    private func client(
        _ journal: String, patience: Duration = .seconds(20), port: Int? = nil
    ) throws -> CommandClient {
        try CommandClient(
            CommandClient.Terms(target: target(port), schema: schema.name, journal: journal, patience: patience))
    }

    private func rowCount() throws -> String { try schema.psql("SELECT count(*) FROM S.commands") }

    @Test("Every request of a desk is answered by the engine of the host that owns the journal")
    func engine() async throws {
        let owned = try journal("push", host: "alpha")
        let engine = try PushEngine(
            journal: InMemoryJournal(), routes: [Route(name: "apns", connector: InMemoryConnector())])
        let running = Task { try await engine.run() }
        let server = try server("alpha")
        server.serve(owned.id, epoch: owned.epoch, desk: engine.desk)
        let desk = try await FleetDesk.open(target(), schema.name, journalNamed: "push")
        #expect(desk.owner.contains("process \(ProcessInfo.processInfo.processIdentifier)"))
        #expect(desk.owner.hasSuffix("on alpha, journal push"))
        let lane = LaneKey(route: "apns", urgency: .immediate, guarantee: .atLeastOnce)
        try await desk.pause(lane, reason: "why not\nüä")
        var status = try await desk.status()
        #expect(status.lanes.first { $0.key == lane }?.state.isPaused == true)
        let token = try #require(DeviceToken(bytes: [1, 2, 3]))
        let receipts = try await desk.submit([
            PushNotification(
                token: token, topic: "com.example.app", payload: Array(#"{"aps":{"alert":"a"}}"#.utf8),
                priority: .immediate)
        ])
        let uid = try #require(receipts.first?.uid)
        #expect(try await desk.withdraw([uid]).withdrawn == 1)
        try await desk.resume(lane)
        status = try await desk.status()
        #expect(status.lanes.first { $0.key == lane }?.state == .running)
        try await desk.blacklist([.of(1)])
        #expect(try await desk.unblacklist([BlacklistKey(.token(1))]) == 1)
        #expect(try await desk.outcomeLog().readers.isEmpty)
        let unknown = LaneKey(route: "nobody", urgency: .immediate, guarantee: .atLeastOnce)
        let error = await #expect(throws: JournalError.self) { try await desk.pause(unknown, reason: "") }
        #expect(error?.code == .notFound)
        #expect(try rowCount() == "0")
        await desk.close()
        server.close()
        running.cancel()
        _ = try? await running.value
    }

    @Test("A request is carried out once, by the owner of its journal, however many hosts look")
    func oneOwner() async throws {
        let (first, second) = (try journal("a", host: "alpha"), try journal("b", host: "beta"))
        let done = Mutex<[String]>([])
        let servers = try (0..<4).map { try server("host \($0)", interval: .milliseconds(5)) }
        for (index, server) in servers.enumerated() {
            let name = index < 2 ? "a" : "b"
            let owned = index < 2 ? first : second
            // A former owner of the journal looks, too.
            server.serve(owned.id, epoch: owned.epoch - Int64(index % 2)) { request in
                done.withLock { $0.append("\(index)\(name) \(String(decoding: request, as: UTF8.self))") }
                return Array("done".utf8) + request
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<20 {
                let client = try client(round % 2 == 0 ? "a" : "b")
                group.addTask {
                    let reply = try await client.ask(Array("\(round)".utf8))
                    #expect(reply.bytes == Array("done\(round)".utf8))
                    #expect(reply.host == (round % 2 == 0 ? "host 0" : "host 2"))
                }
            }
            try await group.waitForAll()
        }
        let expected = (0..<20).map { $0 % 2 == 0 ? "0a \($0)" : "2b \($0)" }
        #expect(done.withLock { $0.sorted() } == expected.sorted())
        #expect(try rowCount() == "0")
        for server in servers { server.close() }
    }

    @Test("A request that nobody takes is withdrawn, and not carried out later")
    func withdrawn() async throws {
        let owned = try journal("a", host: "alpha")
        let failure = await #expect(throws: CommandFailure.self) {
            try await client("a", patience: .milliseconds(100)).ask([1])
        }
        let words = "\(try #require(failure))"
        #expect(words.contains("alpha") && words.contains("withdrawn, so that nobody carries it out later"))
        #expect(try rowCount() == "0")
        // Also where the one who asked is gone before it could withdraw.
        let connection = try schema.asService()
        _ = try calls.ask(UUID(), journal: "a", [2], patience: .milliseconds(50), connection, by: soon())
        #expect(try eventually { try schema.psql("SELECT deadline < clock_timestamp() FROM S.commands") == "t" })
        let claimed = try calls.claim(
            [(journal: owned.id, epoch: owned.epoch)], host: "alpha", limit: 9, connection, by: soon())
        #expect(claimed.isEmpty)
        // And is deleted after a minute.
        try schema.psql("UPDATE S.commands SET deadline = deadline - INTERVAL '61 s'")
        _ = try calls.claim([], host: "alpha", limit: 9, connection, by: soon())
        #expect(try rowCount() == "0")
    }

    @Test("A claim that is answered behind its deadline is not carried out")
    func lateClaim() async throws {
        let owned = try journal("a", host: "alpha")
        let done = Mutex(0)
        // A claim takes its time, as with a standby that is away.
        let server = try CommandServer(
            CommandServer.Terms(
                target: target(), schema: schema.name, host: "alpha", interval: .milliseconds(5), answer: .seconds(20))
        ) { _ in Array("late".utf8) }
        let trigger = """
            CREATE FUNCTION \(schema.name).slow() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END';
            CREATE TRIGGER slow BEFORE UPDATE OF claimed_by ON \(schema.name).commands
                FOR EACH ROW EXECUTE FUNCTION \(schema.name).slow()
            """
        try schema.psql(trigger)
        server.serve(owned.id, epoch: owned.epoch) { request in
            done.withLock { $0 += 1 }
            return request
        }
        // The database takes it before the deadline, and its answer comes behind it.
        let connection = try schema.asService()
        let id = UUID()
        _ = try calls.ask(id, journal: "a", [7], patience: .milliseconds(250), connection, by: soon())
        #expect(try eventually { try calls.read(id, connection, by: soon())?.answer != nil })
        #expect(try calls.read(id, connection, by: soon())?.answer == Array("late".utf8))
        #expect(done.withLock { $0 } == 0)
        server.close()
    }

    @Test("A host that took a request and does not answer is named, and the request may be done or not")
    func lostHost() async throws {
        let owned = try journal("a", host: "alpha")
        let server = try server("alpha")
        let proceed = AsyncStream<Void>.makeStream()
        server.serve(owned.id, epoch: owned.epoch) { request in
            for await _ in proceed.stream { break }
            return request
        }
        let failure = await #expect(throws: CommandFailure.self) {
            try await client("a", patience: .milliseconds(300)).ask([1])
        }
        #expect("\(try #require(failure))".contains("alpha, which owns journal a, took the request and did not answer"))
        // A late answer disturbs nobody.
        proceed.continuation.finish()
        #expect(try eventually { try schema.psql("SELECT count(answer) FROM S.commands") == "1" })
        #expect(try await client("a").ask([2]).bytes == [2])
        server.close()
    }

    @Test("A journal that is not there, one without an owner, too many requests and too large ones are told apart")
    func refused() async throws {
        let noJournal = await #expect(throws: JournalError.self) {
            try await FleetDesk.open(target(), schema.name, journalNamed: "nothing")
        }
        #expect(noJournal?.code == .notFound)
        let owned = try journal("a", host: "alpha")
        let connection = try schema.asService()
        let owners = OwnershipCalls(schema.name)
        // Before, it is one that is being opened.
        try owners.accept(into: owned.id, epoch: owned.epoch, connection, by: soon())
        try owners.release(owned.id, epoch: owned.epoch, connection, by: soon())
        let free = await #expect(throws: ControlError.self) {
            try await FleetDesk.open(target(), schema.name, journalNamed: "a", patience: .milliseconds(50))
        }
        #expect(free?.code == .notServed && free?.message.contains("has no owner since alpha gave it up") == true)
        for _ in 0..<32 {
            _ = try calls.ask(UUID(), journal: "a", [], patience: .seconds(60), connection, by: soon())
        }
        let busy = await #expect(throws: ControlError.self) {
            try await FleetDesk.open(target(), schema.name, journalNamed: "a")
        }
        #expect(busy?.code == .busy)
        let large = [UInt8](repeating: 0, count: 17 << 20)
        let tooLarge = await #expect(throws: CommandFailure.self) { try await client("a").ask(large) }
        #expect("\(try #require(tooLarge))".contains("too large"))
    }

    @Test(
        "A connection that is cut costs no request, and none is done twice",
        arguments: [
            FaultProxy.Fault.cutBefore("ask_command"), .cutAfter("ask_command"), .cutAnswer("read_answer", after: 5),
            .cutAfter("answer_command"), .cutBefore("answer_command"),
        ])
    func cuts(fault: FaultProxy.Fault) async throws {
        let (mine, theirs) = (try FaultProxy(to: schema.cluster.port), try FaultProxy(to: schema.cluster.port))
        let owned = try journal("a", host: "alpha")
        let done = Mutex(0)
        let server = try server("alpha", port: theirs.port, interval: .milliseconds(50))
        server.serve(owned.id, epoch: owned.epoch) { request in
            done.withLock { $0 += 1 }
            return request
        }
        let client = try client("a", port: mine.port)
        #expect(try await client.ask([1]).bytes == [1])
        mine.fail(fault)
        theirs.fail(fault)
        let mended = Background {
            usleep(150_000)
            mine.fail(nil)
            theirs.fail(nil)
        }
        #expect(try await client.ask([2]).bytes == [2])
        #expect(done.withLock { $0 } == 2)
        try mended.value()
        server.close()
    }

    @Test("Operators may ask and order, and nothing else")
    func rights() async throws {
        let role = "operator_\(UUID().uuidString.prefix(8).lowercased())"
        try schema.psql("CREATE ROLE \(role) LOGIN")
        try Migrator(schema: schema.name).migrate(schema.asOwner(), operators: role, by: soon())
        let owned = try journal("a", host: "alpha")
        let server = try server("alpha")
        server.serve(owned.id, epoch: owned.epoch) { $0 }
        let terms = CommandClient.Terms(
            target: try PQTarget(schema.cluster.tcp("user=\(role)")), schema: schema.name, journal: "a")
        #expect(try await CommandClient(terms).ask([5]).bytes == [5])
        let may = try schema.psql(
            """
            SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc
            WHERE pronamespace = '\(schema.name)'::regnamespace AND has_function_privilege('\(role)', oid, 'EXECUTE')
            """)
        #expect(
            may == "ask_command forget_command give_order list_journals list_losses list_releases read_answer "
                + "read_orders schema_version withdraw_command withdraw_order")
        let connection = try schema.connect(as: role)
        for table in ["commands", "notes", "blacklist", "journals", "orders"] {
            #expect(connection.state("SELECT * FROM \(schema.name).\(table)") == "42501")
        }
        server.close()
    }
}

extension LaneState {
    fileprivate var isPaused: Bool {
        if case .paused = self { true } else { false }
    }
}
