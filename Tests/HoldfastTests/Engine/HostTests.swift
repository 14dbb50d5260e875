import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// What the engine does for connectors: credentials that change, notes, notices.
@Suite(.timeLimit(.minutes(1))) struct HostTests {
    private static let untrusted = ConnectError(.configuration, "the certificate of stub is not trusted")

    private func host(of bench: Bench) throws -> ConnectorHost {
        try #require(bench.connectors[0].host.withLock { $0 })
    }

    private func stops(_ bench: Bench) -> [String?] { bench.status.lanes.map(\.stoppedBecause) }

    @Test(
        "Where somebody must mend something, lanes are stopped with the reason until a connection comes about",
        arguments: Guarantee.allCases)
    func misconfigured(_ guarantee: Guarantee) async throws {
        let bench = try Bench { ($0.reconnectMinimum, $0.reconnectMaximum) = (.seconds(60), .seconds(60)) }
        let events = bench.listen()
        bench.accepts = false
        try bench.submit(0..<5, guarantee: guarantee)
        for _ in 0..<3 {
            bench.settle()
            bench.refuseConnection(Self.untrusted)
            bench.settle()
            #expect(stops(bench).allSatisfy { $0 == Self.untrusted.message })
            #expect(!bench.isConnectionRequested)
            bench.advance(by: .seconds(61))
            #expect(bench.isConnectionRequested)
        }
        #expect(bench.sent.isEmpty)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        bench.accepts = true
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(61))
        #expect(bench.status.confirmed == 5)
        #expect(stops(bench).allSatisfy { $0 == nil })
        let told = await bench.events(events)
        #expect(told.count { $0 == .laneStopped(bench.lane(), reason: Self.untrusted.message) } == 1)
        #expect(told.count { $0 == .laneResumed(bench.lane()) } == 1)
    }

    enum Waiting: CaseIterable { case forItsTopic, forTheClock }

    @Test(
        "A lane that is stopped until a connection comes about gets one, also for what waits for something else",
        arguments: Waiting.allCases)
    func misconfiguredWhileAllWaits(_ waiting: Waiting) throws {
        let bench = try Bench { ($0.reconnectMinimum, $0.reconnectMaximum) = (.seconds(60), .seconds(60)) }
        bench.answer = { _ in SendResult(apnsStatus: 400, reason: "TopicDisallowed") }
        var notification = Sample.notification(0)
        notification.expiration = .at(bench.clock.wall.advanced(by: .seconds(3 * 86_400)).seconds)
        bench.accepts = false
        try bench.submit([notification])
        bench.settle()
        if waiting == .forTheClock { bench.clock.stepWall(by: .seconds(4 * 86_400)) }
        bench.accepts = true
        bench.settle()
        bench.turn()
        bench.settle()
        #expect(bench.sent == (waiting == .forItsTopic ? [0] : []))
        bench.accepts = false
        bench.connection.end(possiblySent: [])
        bench.advance(by: .seconds(1))
        if waiting == .forTheClock { bench.clock.stepWall(by: .seconds(-4 * 86_400)) }
        bench.turn()
        for _ in 0..<3 {
            bench.advance(by: .seconds(61))
            #expect(bench.isConnectionRequested)
            bench.refuseConnection(Self.untrusted)
            bench.settle()
            #expect(stops(bench).allSatisfy { $0 == Self.untrusted.message })
        }
        bench.answer = { _ in .confirmed }
        bench.accepts = true
        bench.advance(by: .seconds(61))
        #expect(bench.status.confirmed == 1)
    }

    @Test("A passing failure to connect stops no lane") func temporary() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(0..<5)
        bench.settle()
        bench.refuseConnection()
        bench.settle()
        #expect(stops(bench).allSatisfy { $0 == nil })
    }

    @Test("Other credentials: what was stopped for the old ones goes at once, and no attempt was burnt")
    func otherCredentials() throws {
        let bench = try Bench()
        try bench.submit(0..<3)
        bench.settle()
        bench.connection.answer(0, SendResult(apnsStatus: 403, reason: "InvalidProviderToken"))
        bench.connection.end(possiblySent: [])
        bench.settle()
        #expect(stops(bench).allSatisfy { $0?.contains("InvalidProviderToken") == true })
        #expect(bench.sent == [0, 1, 2])
        bench.answer = { _ in .confirmed }
        try host(of: bench).credentialsChanged()
        bench.settle()
        #expect(bench.sent == [0, 1, 2, 0, 1, 2])
        #expect(bench.status.confirmed == 3)
        #expect(bench.status.deferrals == 0)
    }

    @Test("Other credentials end a wait for the service's word, and a wait before connecting") func hurry() throws {
        let bench = try Bench {
            $0.park = .seconds(1200)
            ($0.reconnectMinimum, $0.reconnectMaximum) = (.seconds(600), .seconds(600))
        }
        try bench.submit(0..<1)
        bench.settle()
        bench.connection.answer(0, SendResult(apnsStatus: 429, reason: "TooManyProviderTokenUpdates"))
        bench.settle()
        #expect(bench.status.holding == ["default": .parked])
        try host(of: bench).credentialsChanged()
        bench.settle()
        #expect(bench.status.holding.isEmpty)
        #expect(bench.sent == [0, 0])
        bench.accepts = false
        bench.connection.end(possiblySent: [])
        bench.settle()
        bench.advance(by: .seconds(601))
        bench.refuseConnection(Self.untrusted)
        bench.settle()
        #expect(!bench.isConnectionRequested)
        try host(of: bench).credentialsChanged()
        bench.settle()
        #expect(bench.isConnectionRequested)
    }

    @Test("Other credentials resume neither what an operator has paused nor what the same refusal for all has stopped")
    func notTheirs() throws {
        let bench = try Bench { $0.suspects.greatestUniform = 2 }
        bench.answer = { _ in SendResult(apnsStatus: 400, reason: "PayloadEmpty") }
        bench.core.pause(bench.lane(.atLeastOnce, .considerate), reason: "by hand")
        try bench.submit(0..<200)
        bench.advance(by: .seconds(60))
        let before = stops(bench)
        #expect(before.compactMap { $0 }.count == 2)
        try host(of: bench).credentialsChanged()
        bench.settle()
        #expect(stops(bench) == before)
    }

    @Test("The service's word about a connection as a whole stops the lanes as an answer would, and harms no entry")
    func word() throws {
        let bench = try Bench()
        try bench.submit(0..<3)
        bench.settle()
        bench.connection.sink(.told(SendResult(apnsStatus: 403, reason: "BadCertificateEnvironment")))
        bench.settle()
        #expect(stops(bench).allSatisfy { $0?.contains("BadCertificateEnvironment") == true })
        bench.connection.sink(.told(SendResult(apnsStatus: 410, reason: "Unregistered")))
        bench.connection.answerAll()
        bench.settle()
        #expect(bench.status.confirmed == 3)
    }

    @Test("The id under which the service's console knows a notification is told and logged")
    func uniqueID() async throws {
        let log = RecordingLog()
        let bench = try Bench(log: log)
        let events = bench.listen()
        try bench.submit(0..<1)
        bench.settle()
        let entry = try #require(bench.connection.sent.first)
        let id = "0b66d0d6-5a24-4d1b-8b2b-43f0b4fd5a7c"
        bench.connection.sink(.results([(entry.ticket, SendResult(.confirmed, status: 200, uniqueID: id))]))
        bench.settle()
        #expect(bench.status.confirmed == 1)
        #expect(await bench.events(events).contains(.identified(route: "default", entry.uid, uniqueID: id)))
        #expect(log.lines(.identified).map { $0.metadata["apns-unique-id"] } == [id])
    }

    @Test("A connector's note is there for the next process") func notes() async throws {
        let bench = try Bench()
        let host = try host(of: bench)
        #expect(host.note("token of X") == nil)
        host.setNote("token of X", to: [1, 2, 3])
        #expect(await Patience(.seconds(20)).wait { host.note("token of X") == [1, 2, 3] })
        let next = try Bench(bench.journal.crashed(mode: .immediate), clock: bench.clock)
        let nextHost = try self.host(of: next)
        #expect(nextHost.note("token of X") == [1, 2, 3])
        nextHost.setNote("token of X", to: nil)
        #expect(await Patience(.seconds(20)).wait { nextHost.note("token of X") == nil })
    }

    @Test("A connector that outlives its engine is told nothing and asks in vain") func outlived() throws {
        var bench: Bench? = try Bench()
        let host = try host(of: #require(bench))
        bench = nil
        #expect(host.note("any") == nil)
        host.setNote("any", to: [1])
        host.credentialsChanged()
        host.report(ConnectorNotice(.credentialsReloaded, "nobody hears this"))
    }

    @Test("A notice becomes an event and a log line, a warning where somebody should act") func notices() async throws {
        let log = RecordingLog()
        let bench = try Bench(log: log)
        let events = bench.listen()
        let host = try host(of: bench)
        let notices = [
            ConnectorNotice(.credentialsReloaded, "the key is in use"),
            ConnectorNotice(.credentialsExpire, "the certificate ends in 7 days"),
        ]
        for notice in notices { host.report(notice) }
        #expect(await bench.events(events) == notices.map { .notice(route: "default", $0) })
        #expect(log.lines.filter { $0.message.contains("the key is in use") }.map(\.level) == [.notice])
        // It is a condition, which is told by a turn.
        bench.settle()
        #expect(log.lines.filter { $0.message.contains("ends in 7 days") }.map(\.level) == [.warning])
    }

    @Test("submit refuses topics that the credentials are not for, and takes them when others have come") func topics()
        throws
    {
        let bench = try Bench()
        bench.connectors[0].topics.withLock { $0 = ["com.example.other"] }
        let refused = try bench.submit(0..<1)
        guard case .refused(let refusal)? = refused.first else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .topicDisallowed)
        #expect(refusal.detail.contains("com.example.other"))
        #expect(bench.journal.entries.isEmpty)
        bench.connectors[0].topics.withLock { $0 = [Sample.notification(0).topic] }
        let taken = try bench.submit(0..<1)
        #expect(taken.first?.uid != nil)
    }
}

@Suite struct ImpliedPriorityTests {
    private func priority(_ payload: String, _ type: PushType? = nil) -> Priority? {
        PushNotification(token: Sample.notification(0).token!, topic: "t", payload: payload, pushType: type)
            .impliedPriority
    }

    @Test(
        "What the user sees, hears or finds counted is left to Apple's default",
        arguments: [
            #"{"aps":{"alert":"Hi"}}"#, #"{"aps":{"sound":"default"}}"#, #"{"aps":{"badge":0}}"#,
            #"{"x":{"aps":1},"aps":{"content-available":1,"alert":{"title":"a"}}}"#, #"{"aps":{"\u0061lert":""}}"#,
        ])
    func seen(payload: String) {
        #expect(priority(payload) == nil)
        #expect(priority(payload, .alert) == nil)
    }

    @Test(
        "What is none of that is sent with priority 5",
        arguments: [
            #"{"aps":{"content-available":1}}"#, #"{"aps":{}}"#, "{}", #"{"alert":"outside"}"#, #"{"aps":"alert"}"#,
            #"{"aps":{"x":{"alert":1}}}"#,
        ])
    func unseen(payload: String) {
        #expect(priority(payload) == .considerate)
        #expect(priority(payload, .alert) == .considerate)
        for type in PushType.known where type != .alert { #expect(priority(payload, type) == nil) }
    }

    @Test("It decides the lane, and is journaled with the entry; a priority that was given stays")
    func journaled() throws {
        let bench = try Bench()
        var silent = Sample.notification(1)
        silent.payload = Array(#"{"aps":{"content-available":1},"n":1}"#.utf8)
        var urgent = silent
        urgent.priority = .immediate
        try bench.submit([silent, urgent])
        bench.settle()
        #expect(bench.status.lanes.first { $0.key == bench.lane(.atLeastOnce, .considerate) }?.backlog == 1)
        #expect(bench.status.lanes.first { $0.key == bench.lane() }?.backlog == 1)
        #expect(bench.connection.sent.map(\.notification.priority) == [.immediate, .considerate])
    }
}
