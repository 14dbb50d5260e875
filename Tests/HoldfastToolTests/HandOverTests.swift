import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastJournal
import HoldfastTesting
import Logging
import Scratch
import ServiceLifecycle
import Testing

@testable import HoldfastTool

/// A notification by hand for a journal that another process uses.
@Suite("Handing over to the process that uses the journal", .serialized)
struct HandOverTests {
    private let world: OperatorWorld

    init() throws { world = try OperatorWorld() }

    /// - Parameter number: of the token.
    private func arguments(_ number: Int, _ more: [String]) -> [String] {
        ["send", "--token", OperatorWorld.token(number), "--topic", "a", "--alert", "Hi", "--journal", world.journal]
            + more
    }

    private func send(_ number: Int, _ more: String...) async throws -> Tool.Result {
        try await Tool.start(arguments(number, more)).result()
    }

    /// The one notification of a summary.
    private func notification(_ result: Tool.Result) throws -> [String: Any] {
        try #require((try result.json()["notifications"] as? [[String: Any]])?.first, "\(result.output)")
    }

    @Test("Its owner takes it and sends it, and what became of it is told, a refusal of the service's too")
    func outcomes() async throws {
        world.connector.answer { notification in
            notification.recipient.text == OperatorWorld.token(OperatorWorld.refused)
                ? SendResult(apnsStatus: 413, reason: "PayloadTooLarge") : .confirmed
        }
        try await world.withEngine { engine in
            let sent = try await send(1)
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(sent.output.hasPrefix("0000…0001  confirmed  apns-id "))
            #expect(sent.errors.contains("process \(ProcessInfo.processInfo.processIdentifier) ("))
            let rejected = try await send(OperatorWorld.refused, "--json")
            #expect(rejected.status == 1, "\(rejected.errors)")
            let report = try notification(rejected)
            #expect(report["outcome"] as? String == "rejected" && report["reason"] as? String == "PayloadTooLarge")
            #expect(report["status"] as? Int == 413)
            #expect(try rejected.count("exitCode") == 1)
            #expect(engine.status().submitted == 2)
        }
    }

    @Test("The same under its apns-id again is not sent again; what its owner refuses is told")
    func receipts() async throws {
        try await world.withEngine { engine in
            let id = "123e4567-e89b-12d3-a456-426655440000"
            #expect(try await send(1, "--id", id).status == 0)
            let again = try await send(1, "--id", id, "--json")
            #expect(again.status == 0, "\(again.errors)")
            #expect(try notification(again)["repeated"] as? Bool == true)
            #expect(engine.status().confirmed == 1)
            try await engine.desk.blacklist([
                BlacklistEntry(
                    token: try DeviceToken(OperatorWorld.token(2)), reason: .unregistered, since: WallTime(seconds: 1),
                    learntAt: WallTime(seconds: 1), route: "default")
            ])
            let refused = try await send(2, "--json")
            #expect(refused.status == 65)
            let report = try notification(refused)
            #expect(report["reason"] as? String == "Blacklisted")
            #expect(report["detail"] as? String == "Unregistered since 1970-01-01T00:00:01Z")
        }
    }

    @Test("A lane that is paused is waited for, until it is resumed or a signal comes; what is left is its owner's")
    func paused() async throws {
        try await world.withEngine { engine in
            #expect(try await send(1).status == 0)
            for guarantee in Guarantee.allCases {
                let lane = LaneKey(route: "default", urgency: .immediate, guarantee: guarantee)
                try await engine.desk.pause(lane, reason: "incident")
            }
            let patient = try Tool.start(arguments(2, []))
            let interrupted = try Tool.start(arguments(3, []))
            for tool in [patient, interrupted] {
                #expect(try await waitUntil { try tool.errors.contains("incident") })
            }
            interrupted.kill(SIGINT)
            let left = try await interrupted.result()
            #expect(left.status == 75 && left.output.contains("  left  1  safe in the journal"), "\(left.output)")
            let bounded = try await send(4, "--give-up-after", "300ms")
            #expect(bounded.status == 75 && bounded.errors.contains("gave up after"), "\(bounded.errors)")
            #expect(try await send(5, "--queue-only").status == 0)
            #expect(patient.isRunning)
            for guarantee in Guarantee.allCases {
                try await engine.desk.resume(LaneKey(route: "default", urgency: .immediate, guarantee: guarantee))
            }
            #expect(try await patient.result().status == 0)
            #expect(await waitUntil { engine.status().confirmed == 5 })
        }
    }

    @Test("One that is moved to quarantine meanwhile is waited for no longer: it is told, with code 72")
    func quarantined() async throws {
        try await world.withJournal { engine, journal in
            for guarantee in Guarantee.allCases {
                let lane = LaneKey(route: "default", urgency: .immediate, guarantee: guarantee)
                try await engine.desk.pause(lane, reason: "incident")
            }
            let tool = try Tool.start(arguments(1, ["--json"]))
            #expect(try await waitUntil { try tool.errors.contains("incident") })
            let lane = try #require(try journal.status().lanes.first { $0.unconfirmed == 1 })
            let uid = try #require(
                try journal.unconfirmed(lane.id, after: .none, through: UID(.max), limit: 1).items.first?.uid)
            let entry = UnreadableEntry(uid: uid, fault: .damaged("a test says so"))
            let order = QuarantineOrder(
                lane: lane.id, items: [.init(entry, isPossiblySent: false)], at: WallTime(seconds: 1))
            let moved = await withCheckedContinuation { done in
                journal.quarantine(order) { done.resume(returning: $0) }
            }
            #expect(try moved.get() == [uid])
            let result = try await tool.result()
            #expect(result.status == 72, "\(result.errors)")
            let report = try notification(result)
            #expect(report["outcome"] as? String == "quarantined")
            #expect((report["detail"] as? String)?.contains("journal quarantine list") == true)
        }
    }

    @Test("Flags that are for its owner's routes are refused, and the owner is named")
    func ownersFlags() async throws {
        try await world.withEngine { engine in
            let flags = [
                ["--endpoint", "https://localhost:1"], ["--window", "5"], ["--feedback", "feedback+tls://x:1"],
            ]
            for flag in flags {
                let refused = try await Tool.start(arguments(1, flag)).result()
                #expect(refused.status == 64)
                #expect(refused.errors.contains("uses the journal") && refused.errors.contains("leave \(flag[0]) out"))
            }
            #expect(engine.status().submitted == 0)
        }
    }

    @Test("An owner that delivers nothing takes none: it is named, as for every other command that needs the journal")
    func ownerAtRest() async throws {
        let opened = try LMDBJournal(directory: world.journal)
        defer { opened.close() }
        let desk = JournalDesk(journal: opened)
        await #expect(throws: JournalError.self) { try await desk.submit([]) }
        let control = ControlSocket(desk: desk, journal: world.journal, logger: Logger(label: "test"))
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: control)], logger: Logger(label: "test")))
        let socket = control.socketPath
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let isServed = await waitUntil { FileManager.default.fileExists(atPath: socket) }
            #expect(isServed)
            let refused = try? await send(1)
            #expect(refused?.status == 73, "\(refused?.errors ?? "")")
            #expect(refused?.errors.contains("is in use by process") == true)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(try JournalReader(directory: world.journal).status().unconfirmed == 0)
    }

    // MARK: Whether it is worth waiting

    private static let lane = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)

    private static func awaited(
        _ count: Int = 1, topics: Set<String> = [], putOff: Reason? = nil
    ) -> HandOverWatch.Awaited {
        HandOverWatch.Awaited(count: count, lanes: [lane], topics: topics, putOff: putOff)
    }

    private func status(_ state: LaneState = .running, isAway: Bool = false) -> DeskStatus {
        DeskStatus(
            lanes: [
                .init(key: Self.lane, state: state, unconfirmed: 1, deferred: 0, isServed: true),
                .init(
                    key: LaneKey(route: "other", urgency: .considerate, guarantee: .atMostOnce),
                    state: .stopped(reason: "not ours", since: WallTime(seconds: 0)), unconfirmed: 1, deferred: 0,
                    isServed: true),
            ],
            routes: [
                .init(
                    name: "r", endpoint: "e", connection: isAway ? "away: refused" : "connected", isAway: isAway,
                    inFlight: 0, suspects: 0, holding: nil,
                    topics: [
                        .init(topic: "aside", reason: "BadTopic", since: WallTime(seconds: 0), nextProbeAt: nil)
                    ]),
                .init(
                    name: "other", endpoint: "e", connection: "away: not ours", isAway: true, inFlight: 0, suspects: 0,
                    holding: nil),
            ])
    }

    @Test("A service that is away, and a lane that is paused, are trouble, and bounded together by --give-up-after")
    func watchesTrouble() {
        var watch = HandOverWatch(giveUpAfter: .seconds(10))
        func look(_ status: DeskStatus?, _ seconds: Int) -> HandOverWatch.Finding {
            watch.look(status, Self.awaited(), at: .seconds(seconds))
        }
        #expect(look(status(), 0) == HandOverWatch.Finding())
        #expect(look(status(isAway: true), 5).trouble == "away: refused")
        #expect(look(status(), 6) == HandOverWatch.Finding())
        #expect(look(status(isAway: true), 15).error == nil)
        let paused = look(status(.paused(reason: "x", since: WallTime(seconds: 0))), 16)
        #expect(paused.error?.status == .entriesLeft && paused.trouble?.contains("paused") == true)
        var patient = HandOverWatch(giveUpAfter: nil)
        #expect(patient.look(status(isAway: true), Self.awaited(), at: .seconds(0)).error == nil)
        #expect(patient.look(status(isAway: true), Self.awaited(), at: .seconds(100_000)).error == nil)
    }

    @Test("A topic that is set aside is trouble for what waits for it, and bounded; for others it is none")
    func watchesTopics() {
        var watch = HandOverWatch(giveUpAfter: .seconds(8))
        func look(_ topics: Set<String>, _ seconds: Int) -> HandOverWatch.Finding {
            watch.look(status(), Self.awaited(topics: topics), at: .seconds(seconds))
        }
        #expect(look(["another"], 0) == HandOverWatch.Finding())
        #expect(look([], 10) == HandOverWatch.Finding())
        #expect(look(["aside"], 11).trouble == "topic aside is set aside on route r: BadTopic")
        #expect(look(["aside"], 17).error == nil)
        let end = look(["aside"], 18)
        #expect(end.error?.status == .entriesLeft && end.error?.message.contains("topic aside") == true)
    }

    @Test("One that is put off again and again is bounded though it is tried in between; an end of another begins anew")
    func watchesPutOff() {
        var watch = HandOverWatch(giveUpAfter: .seconds(10))
        func look(_ count: Int, _ putOff: Reason?, _ seconds: Int) -> HandOverWatch.Finding {
            watch.look(status(), Self.awaited(count, putOff: putOff), at: .seconds(seconds))
        }
        #expect(look(2, nil, 0) == HandOverWatch.Finding())
        #expect(look(2, .foreignAnswer, 1).trouble == "put off, to be tried again: ForeignAnswer")
        // In flight again.
        #expect(look(2, nil, 8).trouble != nil)
        #expect(look(1, nil, 9) == HandOverWatch.Finding())
        #expect(look(1, .foreignAnswer, 10).error == nil)
        #expect(look(1, nil, 18).error == nil)
        #expect(look(1, nil, 19).error?.status == .entriesLeft)
    }

    @Test("What is waited for is told from where each stands: a topic's entries from those that are put off")
    func awaits() throws {
        let far = WallTime(seconds: 253_370_764_800)
        let fates: [(String, EntryFate?)] = [
            ("a", .deferred(Self.lane, until: far, attempts: 0, reason: .badDeviceToken)),
            ("b", .deferred(Self.lane, until: WallTime(seconds: 5), attempts: 1, reason: .foreignAnswer)),
            ("c", .unconfirmed(Self.lane, attempts: 0, possiblySent: true)), ("d", .settled(.confirmed)), ("e", nil),
            ("f", .quarantined(Self.lane, possiblySent: false)),
        ]
        #expect(HandOverWatch.Awaited(fates) == Self.awaited(3, topics: ["a"], putOff: .foreignAnswer))
    }

    @Test("Beside a topic that is set aside --give-up-after holds, and it is said what is waited for")
    func topicAside() async throws {
        world.connector.answer { _ in SendResult(apnsStatus: 400, reason: "TopicDisallowed") }
        // While an entry of the topic is tried again, it is not aside.
        var configuration = EngineConfiguration()
        configuration.probes.minimum = .seconds(600)
        try await world.withEngine(configuration) { _ in
            let sent = try await send(1, "--give-up-after", "500ms")
            #expect(sent.status == 75, "\(sent.errors)")
            #expect(sent.errors.contains("warning: topic a is set aside"), "\(sent.errors)")
            #expect(sent.errors.contains("gave up after") && sent.output.contains("deferred: TopicDisallowed"))
        }
        // Nobody is there to say it: the records do.
        for command in [["lanes", "list"], ["journal", "status"]] {
            let listed = try await Tool.start(command + ["--journal", world.journal]).result()
            #expect(listed.output.contains("entries wait for what was set aside: topic a"), "\(listed.output)")
        }
    }

    @Test("A lane that is stopped ends the waiting; an owner that is gone does so unless another comes soon")
    func watchesEnds() {
        var watch = HandOverWatch(giveUpAfter: nil)
        func look(_ status: DeskStatus?, _ seconds: Int) -> HandOverWatch.Finding {
            watch.look(status, Self.awaited(), at: .seconds(seconds))
        }
        let isStopped = status(.stopped(reason: "the key is refused", since: WallTime(seconds: 0)))
        // It tries another entry, which may go.
        #expect(look(isStopped, 0).trouble?.contains("the key is refused") == true)
        #expect(look(isStopped, 4).error == nil)
        #expect(look(status(), 5).error == nil)
        #expect(look(isStopped, 6).error == nil)
        let stopped = look(isStopped, 11)
        #expect(stopped.error?.status == .configuration)
        #expect(stopped.error?.message.contains("the key is refused") == true)
        #expect(look(nil, 20).error == nil)
        #expect(look(status(), 22).error == nil)
        #expect(look(nil, 31).error == nil)
        #expect(look(nil, 32).error?.status == .entriesLeft)
    }
}
