import Foundation
import Holdfast
import HoldfastGateway
import HoldfastJournal
import HoldfastLMDB
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastPQ
import HoldfastPostgres
import Logging
import Scratch
import TestPostgres
import Testing

@testable import HoldfastService

@Suite("Services on one database", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct FleetServiceTests {
    private let folder: TemporaryFolder
    private let cluster: Cluster
    private let schema: SchemaName
    private let role: String

    init() throws {
        folder = try TemporaryFolder()
        cluster = try Servers.plain.get()
        let suffix = UUID().uuidString.prefix(8).lowercased()
        schema = try SchemaName("s_\(suffix)")
        role = "service_\(suffix)"
        try cluster.psql("CREATE ROLE \(role) LOGIN")
        try Migrator(schema: schema).migrate(connect(cluster.socket), service: role, by: soon())
    }

    private func connect(_ target: String) throws -> PQConnection {
        try PQConnection(PQTarget(target), PQSession(applicationName: "tests"), by: soon(), PQInterruption())
    }

    /// The journals that nobody owns and that have something left, by name.
    private func free() throws -> [String] {
        try list().filter { $0.sighting.isFree && !$0.isClosed }.map(\.name).sorted()
    }

    private func list() throws -> [ListedJournal] {
        let connection = try connect(cluster.tcp("user=\(role)"))
        defer { connection.close() }
        return try OwnershipCalls(schema).list(connection, by: soon())
    }

    /// A service that nobody follows within the test, and whose watch looks all the time.
    private func host(
        _ name: String, route: String = "default", to endpoint: String = "endpoint: \"http://127.0.0.1:1\"",
        of database: String? = nil,
        listen: String = "127.0.0.1:0", more: String = "", entries: Int? = nil, keyFile: String? = nil,
        clock: EngineClock = .system,
        onOpened: @escaping @Sendable (OpenedJournal) -> Void = { _ in },
        onWaiting: @escaping @Sendable (OpeningWait?) -> Void = { _ in }
    ) throws -> ServiceRun {
        let database = database ?? cluster.tcp("user=\(role)")
        let key = keyFile.map { ", key-file: \($0)" } ?? ""
        try folder.write(
            "\(name).yaml",
            """
            journal: {postgres: "\(database)", path: \(name), host: \(name), schema: \(schema)\(key)}
            routes: [{name: \(route), \(endpoint)}]
            gateway: {http2: {listen: "\(listen)"}}
            log: {level: critical}
            \(more)
            """)
        let configuration = try HoldfastConfiguration.load(file: folder("\(name).yaml"), environment: [:])
        var sources = ServiceRun.Sources()
        let times = LeaseTimes(beat: .milliseconds(20), hold: .seconds(20), takeAfter: .seconds(60))
        sources.openJournal = { configuration, record, logger, tellWaiting in
            let postgres = try #require(configuration.journal.postgres)
            var journal = configuration.journal
            // Fewer than the file may say.
            journal.entries = entries
            let opened = try await FleetPlace.open(
                postgres, journal,
                listeningOn: configuration.gateway.listeners.map(\.listener.listen), record, times: times,
                clock: clock, logger: logger,
                onWaiting: {
                    onWaiting($0)
                    tellWaiting($0)
                })
            onOpened(opened)
            return opened
        }
        return ServiceRun(
            configuration, routes: try ServicePlan.routes(configuration),
            host: ServiceHost { Logger(label: $0) { _ in SwiftLogNoOpLogHandler() } }, sources: sources)
    }

    private func submit(_ count: Int, to run: ServiceRun) async throws {
        let engine = try #require(run.engine)
        let token = try DeviceToken("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
        for number in 0..<count {
            let one = PushNotification(token: token, topic: "t", payload: #"{"aps":{"badge":\#(number)}}"#)
            let receipt = await engine.producer.submit([one])[0]
            guard case .accepted = receipt else {
                Issue.record("\(receipt)")
                return
            }
        }
    }

    private func order(_ route: String?, pausing: Bool) throws {
        let connection = try connect(cluster.tcp("user=\(role)"))
        defer { connection.close() }
        _ = try OrderCalls(schema).give(
            .lanes(route.flatMap { LanePattern($0) }), pausing: pausing, reason: "night", who: "", connection,
            by: soon())
    }

    @Test(
        "A journal that is another host's leads to the database, and not to a check of its files",
        arguments: [true, false])
    func left(isLeft: Bool) {
        let findings = ServiceFindings(failure: JournalFailure(words: "it is not open", isLeft: isLeft))
        let condition = findings.conditions(now: WallTime(seconds: 1)).first
        #expect(condition?.kind == .journalFailed && condition?.what == "it is not open")
        #expect(condition?.command == (isLeft ? "holdfast postgres status" : "holdfast journal verify"))
    }

    @Test("A host that waits for room on its disk says so as a fault, with what it needs")
    func waitsForRoom() {
        let waits = Monitor<[OpeningWait?]>([])
        let log = FleetLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, FleetRecord()) { wait in
            waits.withLock { $0.append(wait) }
        }
        log.lacksRoom("it needs 113 MiB")
        let wait = waits.withLock { $0.first ?? nil }
        #expect(wait?.lacksRoom == true && wait?.error == nil)
        var findings = ServiceFindings()
        findings.noRoom = wait?.words
        let condition = findings.conditions(now: WallTime(seconds: 1)).first
        #expect(condition?.kind == .diskRefusing && condition?.severity == .fault && condition?.command == "df -h")
        #expect(condition?.what == "this host has no room: it needs 113 MiB")
        log.tell(.goesOn)
        #expect(waits.withLock { $0.count == 2 && $0[1] == nil })
    }

    @Test("Tools find what a host waits for where its disk has no room for a note, also before its directory is there")
    func noteInMemory() throws {
        let path = folder("copies")
        let wait = OpeningWait(
            process: ProcessInfo.processInfo.processIdentifier, since: WallTime(seconds: 1), trouble: nil,
            words: "this host has no room", lacksRoom: true)
        let memory = OpeningMemory(path)
        memory.note(wait)
        #expect(HostDirectory.wait(in: path) == wait && HostDirectory.wait(in: path + "/") == wait)
        #expect(HostDirectory.wait(in: folder("others")) == nil, "another host's directory is none of it")
        memory.note(nil)
        #expect(HostDirectory.wait(in: path) == nil)
        // A host that has its directory, and writes no note into it.
        let directory = try HostDirectory(path)
        memory.note(wait)
        #expect(HostDirectory.wait(in: path) == wait)
        directory.note(nil)
        memory.note(nil)
        #expect(HostDirectory.wait(in: path) == nil)
    }

    @Test(
        "A directory that another host's process has is refused before a start in the words of the start, and one's own is not"
    )
    func directoryInUse() throws {
        let path = folder("copies")
        let directory = try HostDirectory(path)
        let process = ProcessInfo.processInfo.processIdentifier
        let unnamed = HostDirectory.user(of: path)
        #expect(unnamed?.process == process && unnamed?.host == nil)
        directory.introduce("alpha")
        #expect(HostDirectory.user(of: path)?.host == "alpha")
        try CopiesCheck.examine(path) { $0.host == "alpha" }
        let checked = #expect(throws: JournalError.self) {
            try CopiesCheck.examine(path) { $0.host == "beta" }
        }
        let started = #expect(throws: JournalError.self) { try HostDirectory(path) }
        #expect(checked?.code == .ownedByAnotherProcess && checked?.message == started?.message)
        #expect(checked?.message.contains("is in use by process \(process), host alpha, which has") == true)
        withExtendedLifetime(directory) {}
    }

    @Test("A host whose address is taken ends before it takes a journal, however often it is started")
    func addressTaken() async throws {
        let one = try host("one")
        async let running = one.run()
        #expect(await waitUntil { one.health.isReady })
        let address = try #require(one.addresses["http2"])
        for _ in 0..<2 {
            let outcome = await (try host("two", listen: "\(address)")).run()
            #expect((outcome.error as? GatewayError)?.kind == .cannotListen, "\(String(describing: outcome.error))")
        }
        #expect(try list().map(\.name) == ["one"])
        await one.end()
        #expect(await running.error == nil)
    }

    @Test(
        "A host whose clock differs from the database's says so by itself, before anybody asks for its health or figures"
    )
    func wrongClock() async throws {
        let system = EngineClock.system
        let clock = EngineClock(
            wall: { system.wall().advanced(by: .seconds(7205)) }, monotonic: { system.monotonic() })
        let run = try host("one", clock: clock)
        async let outcome = run.run()
        let isTold = await waitUntil {
            run.engine?.status().conditions.contains { $0.kind == .clockDistrusted && $0.subject == "database" } == true
        }
        #expect(isTold)
        await run.end()
        #expect(await outcome.error == nil)
    }

    @Test("A host that starts waits for somebody who reads its copy of the blacklist, and for its reader's end only")
    func blacklistRead() async throws {
        let first = try host("one")
        async let before = first.run()
        #expect(await waitUntil { first.health.isReady })
        await first.end()
        #expect(await before.error == nil)
        let reader = try OpenFile(folder("one/blacklist"), .directory)
        #expect(try reader.tryLock(exclusive: false))
        let second = try host("one")
        async let running = second.run()
        // As long as it takes to have tried several times: it may not end by that.
        try await Task.sleep(for: JournalOpening.pause * 10)
        #expect(!second.health.isReady)
        reader.unlock()
        #expect(await waitUntil { second.health.isReady })
        await second.end()
        #expect(await running.error == nil)
    }

    @Test("A host whose working copy is deleted makes another, and goes on by itself with all that it has accepted")
    func copyDeleted() async throws {
        let run = try host("one")
        async let running = run.run()
        #expect(await waitUntil { run.health.isReady })
        try await submit(3, to: run)
        let copy = try #require(run.state.withLock(\.life)?.place?.directory)
        try FileManager.default.removeItem(atPath: copy)
        #expect(await waitUntil { run.state.withLock(\.reopened) == 1 && run.health.isReady })
        try await submit(1, to: run)
        await run.end()
        let outcome = await running
        #expect(outcome.error == nil && outcome.left == 4, "\(outcome)")
    }

    @Test("A working copy that is deleted before senders are served is made again, and they are served")
    func copyDeletedAtStart() async throws {
        let opened = Monitor(0)
        let run = try host(
            "one",
            onOpened: { place in
                let isFirst = opened.withLock { count in
                    count += 1
                    return count == 1
                }
                guard isFirst, let copy = place.directory else { return }
                do { try FileManager.default.removeItem(atPath: copy) } catch { Issue.record(error) }
            })
        async let running = run.run()
        #expect(await waitUntil { run.health.isReady })
        #expect(run.state.withLock(\.reopened) == 1)
        try await submit(1, to: run)
        await run.end()
        let outcome = await running
        #expect(outcome.error == nil && outcome.left == 1, "\(outcome)")
    }

    @Test("A directory of working copies that is deleted while a host starts is made again")
    func directoryDeletedAtStart() async throws {
        let proxy = try FaultProxy(to: cluster.port)
        proxy.fail(.cutBefore("S"))
        let (copies, waits) = (folder("one"), Monitor(0))
        let run = try host(
            "one", of: cluster.tcp("user=\(role)", port: proxy.port),
            onWaiting: { wait in
                guard wait != nil else { return }
                let isFirst = waits.withLock { count in
                    count += 1
                    return count == 1
                }
                guard isFirst else { return }
                do { try FileManager.default.removeItem(atPath: copies) } catch { Issue.record(error) }
                proxy.fail(nil)
            })
        async let running = run.run()
        #expect(await waitUntil { run.health.isReady })
        #expect(run.state.withLock(\.reopened) == 1)
        try await submit(1, to: run)
        await run.end()
        #expect(await running.error == nil)
    }

    @Test("That a working copy is lost is not held against the service, whoever meets it first")
    func lostCopy() {
        let lost = [
            ServiceFailure(JournalError(.copyLost, "deleted")),
            ServiceFailure(GatewayError(.cannotListen, "deleted", journal: .copyLost)),
        ]
        for failure in lost { #expect(failure.isOfLostCopy && failure.mayPass && !failure.counts) }
        let other = ServiceFailure(GatewayError(.cannotListen, "in use"))
        #expect(!other.isOfLostCopy && other.counts)
    }

    @Test("That a host takes no submissions by SQL is told, and over when it takes them")
    func submissionsRefused() async throws {
        let run = try host("one")
        async let running = run.run()
        #expect(await waitUntil { run.health.isReady })
        func each(_ words: String) throws {
            try cluster.psql(
                """
                DO $$DECLARE f regprocedure; BEGIN
                    FOR f IN SELECT oid::regprocedure FROM pg_proc
                        WHERE proname = 'claim_outbox' AND pronamespace = '\(schema)'::regnamespace
                    LOOP EXECUTE format('\(words) \(role)', f); END LOOP;
                END$$
                """)
        }
        try each("REVOKE EXECUTE ON FUNCTION %s FROM")
        func isTold() -> Bool {
            run.conditions.contains {
                $0.kind == .databaseTrouble && $0.what.contains("journal one: submissions by SQL are not taken")
            }
        }
        #expect(await waitUntil { isTold() })
        try each("GRANT EXECUTE ON FUNCTION %s TO")
        #expect(await waitUntil { !isTold() })
        await run.end()
        #expect(await running.error == nil)
    }

    @Test("A host whose journal is full says that it leaves submissions by SQL to others, and they take them")
    func full() async throws {
        let (one, two) = (try host("one", entries: 3), try host("two"))
        async let first = one.run()
        async let second = two.run()
        #expect(await waitUntil { one.health.isReady && two.health.isReady })
        try await submit(3, to: one)
        // By the service itself, with nobody who reads its health or metrics; for `holdfast status`.
        func isLeft() -> Bool {
            one.engine?.status().conditions.contains { $0.kind == .leftToOthers && $0.cause == "full" } == true
        }
        #expect(await waitUntil { isLeft() })
        #expect(!one.health.isReady && two.health.isReady)
        try cluster.psql(
            "SELECT \(schema).submit(topic => 't', token => repeat('ab', 32), payload => '{}') FROM generate_series(1, 5)"
        )
        #expect(try await waitUntil { try cluster.psql("SELECT count(*) FROM \(schema).outbox") == "0" })
        #expect(try one.state.withLock(\.life)?.journalStatus().unconfirmed == 3)
        #expect(try two.state.withLock(\.life)?.journalStatus().unconfirmed == 5)
        await one.end()
        await two.end()
        #expect(await first.error == nil)
        #expect(await second.error == nil)
    }

    @Test("A host holds outcomes until they are told by SQL, from the opening of its journal on, and no longer")
    func outcomesHeld() async throws {
        var service = MockAPNsConfiguration()
        service.certificateDirectory = folder("mock")
        let mock = try await MockAPNsServer.start(service)
        let (own, held) = (Monitor<OwnedJournal?>(nil), Monitor<OutcomeCursor?>(nil))
        let run = try host(
            "one", to: "endpoint: \"https://\(mock.address)\", trust: \(mock.certificateAuthorityFile)",
            onOpened: { opened in
                let journal = opened.fleet?.own
                held.withLock { $0 = journal?.journal.heldOutcomes }
                own.withLock { $0 = journal }
            })
        async let running = run.run()
        #expect(await waitUntil { run.health.isReady })
        #expect(held.withLock { $0 } == OutcomeCursor.start)
        let journal = try #require(own.withLock { $0 }).journal
        try cluster.psql(
            "SELECT \(schema).submit(topic => 't', token => repeat('ab', 32), payload => '{}') FROM generate_series(1, 3)"
        )
        #expect(try await waitUntil { try cluster.psql("SELECT count(*) FROM \(schema).outcomes") == "3" })
        #expect(await waitUntil { journal.heldOutcomes == OutcomeCursor(3) })
        try await submit(2, to: run)
        #expect(await waitUntil { journal.heldOutcomes == OutcomeCursor(5) })
        await run.end()
        #expect(await running.error == nil)
        try await mock.stop()
    }

    @Test("A host that joins heeds the fleet's orders before its engine has begun")
    func orderedBefore() async throws {
        try order("default", pausing: true)
        let run = try host("one")
        let configuration = run.state.withLock(\.configuration)
        let life = try await ServiceLife(
            try await run.sources.openJournal(configuration, run.record, run.logger) { _ in },
            configuration: configuration,
            routes: run.state.withLock(\.routes), webhooks: [], at: [:], host: run.host, listeners: [],
            metrics: run.engineMetrics, means: { throw CancellationError() })
        let lanes = try await life.engine.desk.status().lanes
        #expect(lanes.count == 4 && lanes.allSatisfy { $0.isServed && $0.state.standsStillBecause == "paused: night" })
        async let running: Void = life.run()
        await life.end()
        try await running
    }

    @Test("What is taken over is sent when the fleet's order is taken back, and not before")
    func orderedTakeover() async throws {
        let taken = Monitor(0)
        var service = MockAPNsConfiguration()
        service.certificateDirectory = folder("mock")
        service.observer = { exchanges in taken.withLock { $0 += exchanges.count { $0.status == 200 } } }
        let mock = try await MockAPNsServer.start(service)
        let one = try host("one")
        let two = try host("two", to: "endpoint: \"https://\(mock.address)\", trust: \(mock.certificateAuthorityFile)")
        async let first = one.run()
        #expect(await waitUntil { one.health.isReady })
        try await submit(3, to: one)
        await one.end()
        #expect(await first.error == nil)
        try order(nil, pausing: true)
        async let second = two.run()
        #expect(await waitUntil { two.health.isReady })
        #expect(await waitUntil { two.state.withLock(\.life)?.fleet?.taken.isEmpty == false })
        let engine = try #require(two.state.withLock(\.life)?.fleet?.taken.first?.engine)
        #expect(engine.status().lanes.allSatisfy { $0.state.standsStillBecause == "paused: night" })
        try await submit(1, to: two)
        #expect(taken.withLock { $0 } == 0)
        // By whoever has the right, with no word to a host.
        try order("default", pausing: false)
        #expect(await waitUntil { taken.withLock { $0 } == 4 })
        await two.end()
        #expect(await second.error == nil)
        try await mock.stop()
    }

    @Test("Owners are asked while somebody looks at the fleet and at no other time, in one round for all who look")
    func looked() async throws {
        let (one, two) = (try host("one"), try host("two"))
        async let first = one.run()
        async let second = two.run()
        #expect(await waitUntil { one.health.isReady && two.health.isReady })
        let look = try #require(one.state.withLock(\.life)?.fleet?.look)
        #expect(await waitUntil { one.state.withLock(\.life)?.fleet?.journals.count == 2 })
        #expect(look.rounds == 0)
        let standings = await withTaskGroup(of: FleetStanding.self, returning: [FleetStanding].self) { group in
            for _ in 0..<20 { group.addTask { await look.standing() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(standings.allSatisfy { $0.journals.allSatisfy { $0.answeredAt != nil } && $0.journals.count == 2 })
        #expect(standings.allSatisfy { $0.host == "one" && $0.journal == "one" && $0.hosts == 2 })
        #expect(look.rounds == 1)
        // What was changed by this page is asked for at once.
        look.forget()
        #expect(await look.standing().trouble == nil)
        #expect(look.rounds == 2)
        await one.end()
        await two.end()
        #expect(await first.error == nil)
        #expect(await second.error == nil)
    }

    @Test("What a host that ends has left is delivered by another at once")
    func handedOver() async throws {
        let taken = Monitor(0)
        var service = MockAPNsConfiguration()
        service.certificateDirectory = folder("mock")
        service.observer = { exchanges in taken.withLock { $0 += exchanges.count { $0.status == 200 } } }
        let mock = try await MockAPNsServer.start(service)
        let one = try host("one")
        let two = try host("two", to: "endpoint: \"https://\(mock.address)\", trust: \(mock.certificateAuthorityFile)")
        async let first = one.run()
        async let second = two.run()
        #expect(await waitUntil { one.health.isReady && two.health.isReady })
        try await submit(3, to: one)
        await one.end()
        #expect(await first.error == nil)
        #expect(await waitUntil { taken.withLock { $0 } == 3 })
        // While the host that delivered it lives.
        #expect(try await waitUntil { try list().contains { $0.name == "one" && $0.isClosed } })
        // The figures of its engine go with it.
        #expect(await waitUntil { !two.metrics.contains("journal=\"one\"") })
        await two.end()
        #expect(await second.error == nil)
        try await mock.stop()
    }

    @Test("What a host with a new key has left is delivered by one that was given the key by reloads")
    func keysOfNow() async throws {
        let taken = Monitor(0)
        var service = MockAPNsConfiguration()
        service.certificateDirectory = folder("mock")
        service.observer = { exchanges in taken.withLock { $0 += exchanges.count { $0.status == 200 } } }
        let mock = try await MockAPNsServer.start(service)
        let keys = [folder("one.key"), folder("two.key")]
        try JournalKeys.makeFile(keys[0])
        try FileManager.default.copyItem(atPath: keys[0], toPath: keys[1])
        let one = try host("one", keyFile: keys[0])
        let two = try host(
            "two", to: "endpoint: \"https://\(mock.address)\", trust: \(mock.certificateAuthorityFile)",
            keyFile: keys[1])
        async let first = one.run()
        async let second = two.run()
        #expect(await waitUntil { one.health.isReady && two.health.isReady })
        try JournalKeys.addKey(toFile: keys[0])
        try FileManager.default.removeItem(atPath: keys[1])
        try FileManager.default.copyItem(atPath: keys[0], toPath: keys[1])
        for key in keys {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        }
        for run in [two, one] { await run.reload() }
        try await submit(3, to: one)
        await one.end()
        #expect(await first.error == nil)
        #expect(await waitUntil { taken.withLock { $0 } == 3 })
        await two.end()
        #expect(await second.error == nil)
        try await mock.stop()
    }

    @Test("A host that ends gives back what it has taken over, and takes it no more")
    func givenBack() async throws {
        let (one, two) = (try host("one"), try host("two"))
        async let first = one.run()
        async let second = two.run()
        #expect(await waitUntil { one.health.isReady && two.health.isReady })
        try await submit(3, to: one)
        await one.end()
        #expect(await first.error == nil)
        #expect(try await waitUntil { try free().isEmpty })
        // Its figures are told beside those of the host's own journal.
        let depth = #"holdfast_journal_depth{route="default",lane="immediate/at-least-once""#
        #expect(await waitUntil { two.metrics.contains("\n\(depth),journal=\"one\"} 3\n") }, "\(two.metrics)")
        #expect(two.metrics.contains("\n\(depth)} "))
        try await submit(1, to: two)
        await two.end()
        #expect(await second.error == nil)
        #expect(try free() == ["one", "two"])
    }

    @Test(
        "What holds up a journal that was taken over is told by the host that has it, with the journal's name and once")
    func takenConditions() async throws {
        let (one, two) = (try host("one"), try host("two"))
        async let first = one.run()
        async let second = two.run()
        #expect(await waitUntil { one.health.isReady && two.health.isReady })
        try await submit(3, to: one)
        await one.end()
        #expect(await first.error == nil)
        func away() -> HealthCondition? {
            two.conditions.first { $0.kind == .serviceAway && $0.journal == "one" }
        }
        #expect(await waitUntil { away() != nil }, "\(two.conditions)")
        #expect(away()?.subject == "one/default" && away()?.route == nil)
        #expect(away()?.what.hasPrefix("journal one, which was taken over: ") == true)
        #expect(away()?.command?.hasSuffix(" --journal-name one") ?? true, "\(away()?.command ?? "")")
        let health = two.health
        #expect(health.isReady && health.warnings.contains { $0.hasPrefix("journal one, ") }, "\(health.warnings)")
        let desk = try await two.engine?.desk.status()
        #expect(desk?.conditions?.contains { $0.journal == "one" } == true)
        #expect(desk?.takenOver == [EngineStatus.TakenOver(name: "one", unconfirmed: 3)])
        let told = two.metrics.split(separator: "\n").filter { $0.contains(#"kind="service-away""#) }
        #expect(told.count == 1 && told.first?.contains(#"journal="one""#) == true, "\(told)")
        await two.end()
        #expect(await second.error == nil)
    }

    @Test("A host that lacks the route of what waits in a journal that it took over tells that, with how many")
    func takenWithoutRoute() async throws {
        let (one, two) = (try host("one"), try host("two", route: "other"))
        async let first = one.run()
        async let second = two.run()
        #expect(await waitUntil { one.health.isReady && two.health.isReady })
        try await submit(3, to: one)
        await one.end()
        #expect(await first.error == nil)
        func missing() -> HealthCondition? {
            two.conditions.first { $0.kind == .routeMissing && $0.journal == "one" }
        }
        #expect(await waitUntil { missing() != nil }, "\(two.conditions)")
        #expect(missing()?.affected == 3 && missing()?.subject.hasPrefix("one/default/") == true)
        #expect(missing()?.command?.hasSuffix(" --journal-name one") == true)
        let told = two.metrics.split(separator: "\n").filter { $0.contains(#"kind="route-missing""#) }
        #expect(told.count == 1 && told.first?.contains(#"journal="one""#) == true, "\(told)")
        await two.end()
        #expect(await second.error == nil)
    }

    @Test("A host without sessions for a lost host's journal tells that, and another host takes it after half a minute")
    func noSessions() async throws {
        let poor = "poor_\(role)"
        try cluster.psql("CREATE ROLE \(poor) LOGIN IN ROLE \(role)")
        let (one, two) = (try host("one"), try host("two", of: cluster.tcp("user=\(poor)")))
        async let first = one.run()
        async let second = two.run()
        #expect(await waitUntil { one.health.isReady && two.health.isReady })
        #expect(await waitUntil { two.state.withLock(\.life)?.fleet?.journals.count == 2 })
        try await submit(3, to: one)
        try cluster.psql("ALTER ROLE \(poor) CONNECTION LIMIT 1")
        await one.end()
        #expect(await first.error == nil)
        func told() -> HealthCondition? {
            two.conditions.first { $0.kind == .databaseTrouble && $0.subject == "one/takeovers" }
        }
        #expect(await waitUntil { told() != nil })
        #expect(told()?.what.contains("too many connections") == true, "\(two.conditions)")
        #expect(two.health.warnings.contains { $0.hasPrefix("journal one: ") }, "\(two.health.warnings)")
        // It is free for others, also while this host can't get a session to give it back by.
        #expect(try await waitUntil(limit: .seconds(60)) { try free() == ["one"] })
        #expect(told()?.nextTryAt != nil)
        let three = try host("three")
        async let third = three.run()
        #expect(await waitUntil { three.state.withLock(\.life)?.fleet?.taken.isEmpty == false })
        try cluster.psql("ALTER ROLE \(poor) CONNECTION LIMIT -1")
        await two.end()
        #expect(await second.error == nil)
        await three.end()
        #expect(await third.error == nil)
    }

    @Test("A command that helps is told with the journal's name where it looks at one journal")
    func commandsOfTakenOver() {
        func command(_ words: String?) -> String? {
            HealthCondition(
                .parked, .fault, "lane", "a", since: WallTime(seconds: 1), what: "", next: "", command: words
            )
            .ofTakenOver("web 1").command
        }
        #expect(command("holdfast lanes resume a") == "holdfast lanes resume a --journal-name 'web 1'")
        for words in [
            "df -h", "holdfast doctor", "holdfast lanes list --fleet", "holdfast journal status --journal /c",
        ] {
            #expect(command(words) == words)
        }
        #expect(command(nil) == nil)
    }

    @Test("What ends a service while its journal is opened is what is told, and an end that was asked for is no error")
    func firstFailure() async throws {
        let other = try await MockAPNsServer.start(MockAPNsConfiguration())
        let taken = try host("one", more: "admin: {listen: \"\(other.address)\"}")
        let error = await taken.run().error as? GatewayError
        #expect(error?.kind == .cannotListen)
        try await other.stop()
        let waiting = try host("two", of: "host=127.0.0.1 port=1 dbname=none user=nobody sslmode=disable")
        async let outcome = waiting.run()
        await waiting.end()
        #expect(await outcome.error == nil)
    }

    @Test("A host that starts while the database is away says that, which one it is and since when, until it is back")
    func awayAtStart() async throws {
        let proxy = try FaultProxy(to: cluster.port)
        proxy.fail(.cutBefore("S"))
        let run = try host("one", of: cluster.tcp("user=\(role)", port: proxy.port))
        async let outcome = run.run()
        let place = "127.0.0.1:\(proxy.port) can't be used now"
        #expect(await waitUntil { run.health.obstacles.first?.contains(place) == true }, "\(run.health)")
        let words = run.health.obstacles.first ?? ""
        #expect(words.hasPrefix("starting, and waiting for ") && words.contains(" s: "), "\(words)")
        let first = try #require(run.conditions.first)
        #expect(first.kind == .databaseAway && first.severity == .fault && first.what.contains(place))
        // For tools, whom nobody serves yet.
        let wait = try #require(HostDirectory.wait(in: folder("one")))
        #expect(
            wait.trouble == .away && wait.words == first.what
                && wait.process == ProcessInfo.processInfo.processIdentifier)
        proxy.fail(nil)
        #expect(await waitUntil { run.health.isReady })
        #expect(run.conditions.isEmpty && run.health.warnings.allSatisfy { !$0.contains("can't be used") })
        #expect(HostDirectory.wait(in: folder("one")) == nil)
        await run.end()
        #expect(await outcome.error == nil)
    }

    @Test("That the database has lost orders to the fleet is a condition of the service")
    func ordersLost() async throws {
        try order("default", pausing: true)
        let before = try host("one")
        async let first = before.run()
        #expect(await waitUntil { before.health.isReady })
        let engine = try #require(before.engine)
        #expect(await waitUntil { engine.status().lanes.allSatisfy { $0.state.standsStillBecause == "paused: night" } })
        #expect(!before.conditions.contains { $0.kind == .ordersLost })
        await before.end()
        #expect(await first.error == nil)
        try cluster.psql("DELETE FROM \(schema).orders")
        let run = try host("one")
        async let second = run.run()
        #expect(await waitUntil { run.health.isReady })
        let found = run.conditions.filter { $0.kind == .ordersLost }
        #expect(found.map(\.subject) == ["one"] && found.map(\.severity) == [.warning], "\(run.conditions)")
        #expect(found.first?.what.contains("put back for all journals: lanes default") == true)
        #expect(run.health.warnings.filter { $0.contains("went back to before orders") }.count == 1)
        #expect(try cluster.psql("SELECT count(*) FROM \(schema).orders") == "1")
        await run.end()
        #expect(await second.error == nil)
    }

    @Test("A journal of a directory with something left is not passed over where its host begins to use a database")
    func formerJournal() async throws {
        let path = folder("one/push.journal")
        try FileManager.default.createDirectory(atPath: folder("one"), withIntermediateDirectories: true)
        try folder.write(
            "before.yaml",
            """
            journal: {path: one/push.journal}
            routes: [{name: default, endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        let configuration = try HoldfastConfiguration.load(file: folder("before.yaml"), environment: [:])
        let before = ServiceRun(
            configuration, routes: try ServicePlan.routes(configuration),
            host: ServiceHost { Logger(label: $0) { _ in SwiftLogNoOpLogHandler() } }, sources: ServiceRun.Sources())
        async let first = before.run()
        #expect(await waitUntil { before.health.isReady })
        try await submit(3, to: before)
        await before.end()
        #expect(await first.left == 3)
        // Beside where its copies are to be, and there.
        for place in [folder("one"), path] {
            let error = #expect(throws: JournalError.self) { try FormerJournals.refuse(in: place) }
            let words = error?.message ?? ""
            #expect(words.contains(path) && words.contains("3 notifications wait"), "\(words)")
        }
        #expect(await (try host("one").run().error as? JournalError)?.code == .alreadyExists)
    }
}
