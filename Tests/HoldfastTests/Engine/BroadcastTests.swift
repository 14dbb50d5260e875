import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Notifications for channels: the same care, and no token to blame.
@Suite(.timeLimit(.minutes(1))) struct BroadcastTests {
    private static let channel = BroadcastChannel(checked: "dHN0LXNyY2gtY2hubA==")
    private static let broadcast = PushNotification(
        channel: channel, topic: "com.example.app", payload: Array(#"{"aps":{"timestamp":1,"event":"update"}}"#.utf8))

    private func answered(_ bench: Bench, _ result: SendResult) {
        let ticket = bench.connection.sent[bench.connection.sent.count - 1].ticket
        bench.connection.sink(.results([(ticket, result)]))
        bench.settle()
    }

    @Test("A broadcast is kept over a kill until the service has answered for it") func kept() throws {
        let bench = try Bench { $0.keepsOutcomes = true }
        bench.accepts = false
        let uid = try #require(try bench.submit([Self.broadcast])[0].uid)
        let next = try bench.crashed { $0.keepsOutcomes = true }
        next.settle()
        #expect(next.connection.sent.map(\.notification.recipient) == [.channel(Self.channel)])
        #expect(next.connection.sent[0].notification.pushType == .liveactivity)
        answered(next, .confirmed)
        let outcome = try #require(try next.journal.outcomes(after: .start, limit: 1).outcomes.first)
        #expect((outcome.uid, outcome.terminal) == (uid, .confirmed))
        #expect(outcome.recipient == .channel(Self.channel))
        #expect(outcome.token == nil)
    }

    @Test("Broadcasts that are taken do not speak for the tokens that are called bad") func acquitsNobody() throws {
        let bench = try Bench()
        let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")
        bench.answer = { $0.token == nil ? .confirmed : bad }
        for number in 1..<20 {
            try bench.submit([Self.broadcast])
            try bench.submit(number..<(number + 1))
            bench.advance(by: .seconds(10))
        }
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.status.confirmed == 19)
    }

    @Test("Without an expiration it is tried for a day, over a kill, and the service is told to store nothing")
    func expiration() throws {
        let bench = try Bench()
        bench.accepts = false
        var stored = Self.broadcast
        stored.expiration = .at(bench.clock.wall.seconds + 60)
        try bench.submit([Self.broadcast, stored])
        let day = bench.clock.wall.seconds + 24 * 60 * 60
        let next = try bench.crashed()
        next.settle()
        let sent = next.connection.sent.map(\.notification.expiration)
        #expect(sent == [.unstored(until: day), stored.expiration])
        #expect(sent.map { $0?.unixSeconds } == [0, stored.expiration?.unixSeconds])
        // It is not one attempt: what may have been taken goes again.
        next.connection.sink(.confirmed([next.connection.sent[1].ticket]))
        next.connection.sink(.results([(next.connection.sent[0].ticket, .unknown("no answer"))]))
        next.advance(by: .seconds(2))
        #expect(next.connection.sent.count == 3)
    }

    @Test("What has waited for a day expires") func expires() throws {
        let bench = try Bench { $0.keepsOutcomes = true }
        bench.accepts = false
        try bench.submit([Self.broadcast])
        bench.clock.advance(by: .seconds(24 * 60 * 60))
        bench.accepts = true
        bench.settle()
        #expect(bench.connections[0].flatMap(\.sent).isEmpty)
        #expect(try bench.journal.outcomes(after: .start, limit: 1).outcomes.map(\.terminal) == [.expired])
    }

    @Test(
        "What is wrong with a channel rejects the broadcast alone: the lane runs, and nobody is blacklisted",
        arguments: [
            (400, "BadChannelId"), (400, "ChannelNotRegistered"), (400, "MissingChannelId"), (400, "FeatureNotEnabled"),
            (400, "InvalidPushType"), (400, "MissingPushType"), (400, "BadExpirationDate"), (400, "BadPriority"),
            (413, "PayloadTooLarge"), (404, "BadPath"), (400, "SomethingNew"),
            // Words about tokens, which nobody should say of a broadcast.
            (410, "Unregistered"), (410, "ExpiredToken"), (410, "SomethingNew"), (400, "BadDeviceToken"),
            (400, "DeviceTokenNotForTopic"),
        ])
    func rejected(status: Int, reason: String) throws {
        let bench = try Bench()
        try bench.submit([Self.broadcast])
        bench.settle()
        answered(bench, SendResult(apnsStatus: status, reason: reason, timestamp: bench.clock.wall))
        #expect(bench.journal.rejections[UID(1)]?.reason.rawValue == reason)
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.status.suspects == 0)
        try bench.submit(1..<2)
        bench.settle()
        #expect(bench.connection.sent.count == 2)
    }

    @Test(
        "What is the service's own matter is tried again",
        arguments: [
            (503, "Service Unavailable"), (503, "ServiceUnavailable"), (500, "InternalServerError"),
            (429, "TooManyRequests"), (503, nil),
        ])
    func deferred(status: Int, reason: String?) throws {
        let bench = try Bench()
        try bench.submit([Self.broadcast])
        bench.settle()
        answered(bench, SendResult(apnsStatus: status, reason: reason))
        #expect(bench.journal.rejections.isEmpty)
        bench.advance(by: .seconds(5))
        #expect(bench.connection.sent.count == 2)
        #expect(bench.connection.sent[1].notification == bench.connection.sent[0].notification)
    }

    @Test(
        "Credentials that are not good for it stop the lane, and lose nothing",
        arguments: [
            (403, "InvalidProviderToken"), (403, "Forbidden"), (403, "SomethingNew"), (400, "TopicDisallowed"),
            (400, "TopicMismatch"), (403, "TopicMismatch"),
        ])
    func stopped(status: Int, reason: String) throws {
        let bench = try Bench()
        try bench.submit([Self.broadcast])
        bench.settle()
        answered(bench, SendResult(apnsStatus: status, reason: reason))
        #expect(bench.journal.rejections.isEmpty)
        #expect(bench.journal.entries.map(\.attempts) == [0])
        bench.advance(by: .milliseconds(400))
        #expect(bench.connections[0].flatMap(\.sent).count == 1)
    }

    @Test("A token on the blacklist that has a channel's bytes stops no broadcast") func sameBytes() throws {
        let bench = try Bench()
        let token = DeviceToken(checked: Array(Self.channel.id.utf8))
        bench.journal.blacklist.add([
            BlacklistEntry(
                token: token, reason: .unregistered, since: bench.clock.wall, learntAt: bench.clock.wall,
                route: "default")
        ]) { _ in }
        bench.settle()
        var device = Sample.notification()
        device.recipient = .device(token)
        let receipts = try bench.submit([Self.broadcast, device])
        #expect(receipts.map { $0.uid != nil } == [true, false])
        bench.settle()
        #expect(bench.connection.sent.map(\.notification.recipient) == [.channel(Self.channel)])
    }

    @Test("Of two updates on a channel only the newer goes, where that is asked for") func superseded() throws {
        let bench = try Bench { $0.supersedesLiveActivities = true }
        bench.accepts = false
        var newer = Self.broadcast
        newer.payload = Array(#"{"aps":{"timestamp":2,"event":"update"}}"#.utf8)
        var elsewhere = Self.broadcast
        elsewhere.recipient = .channel(BroadcastChannel(checked: "b3RoZXI="))
        try bench.submit([Self.broadcast, elsewhere, newer])
        bench.accepts = true
        bench.settle()
        #expect(bench.connection.sent.map(\.notification.payload) == [elsewhere.payload, newer.payload])
        #expect(bench.connection.sent.map(\.notification.recipient) == [elsewhere.recipient, newer.recipient])
    }

    @Test("One id may go to a device and to a channel of the same bytes: those are two notifications") func identity()
        throws
    {
        let bench = try Bench()
        bench.accepts = false
        var first = Self.broadcast
        first.id = NotificationID(high: 1, low: 2)
        var second = first
        second.recipient = .device(DeviceToken(checked: Array(Self.channel.id.utf8)))
        let uids = try bench.submit([first, second, first]).map(\.uid)
        #expect(uids[0] == uids[2])
        #expect(uids[0] != uids[1])
    }

    @Test("A rejected broadcast can be sent again by an operator") func retried() async throws {
        let bench = try Bench()
        try bench.submit([Self.broadcast])
        bench.settle()
        answered(bench, SendResult(apnsStatus: 400, reason: "FeatureNotEnabled"))
        let retries = try await EngineDesk(core: bench.core).retry([UID(1)])
        #expect(retries.map(\.result) == [.accepted(UID(2))])
        bench.settle()
        #expect(bench.connection.sent.count == 2)
        #expect(bench.connection.sent[1].notification == bench.connection.sent[0].notification)
    }

    @Test("Sent again, what has passed has a new day, of the same kind; what has not stays", arguments: [0, 3600])
    func renewed(wait: Int64) async throws {
        let bench = try Bench()
        let soon = bench.clock.wall.seconds + 60
        let kinds: [Expiration] = [.once, .at(soon), .unstored(until: soon)]
        try bench.submit(
            kinds.map { kind in
                var broadcast = Self.broadcast
                broadcast.expiration = kind
                return broadcast
            })
        bench.settle()
        for (ticket, _) in bench.connection.sent.map({ ($0.ticket, $0) }) {
            bench.connection.sink(.results([(ticket, SendResult(apnsStatus: 400, reason: "FeatureNotEnabled"))]))
        }
        bench.settle()
        bench.clock.advance(by: .seconds(wait))
        _ = try await EngineDesk(core: bench.core).retry((1...3).map { UID($0) })
        bench.settle()
        let day = bench.clock.wall.seconds + 24 * 60 * 60
        let renewed: [Expiration] = wait == 0 ? kinds : [.once, .at(day), .unstored(until: day)]
        #expect(Set(bench.connection.sent.dropFirst(3).map(\.notification.expiration)) == Set(renewed))
    }

    @Test("Where there are no broadcasts they are refused before they are journaled", arguments: [true, false])
    func unsupported(isCumulative: Bool) async throws {
        let connector =
            isCumulative
            ? SenderConnector(confirmation: .cumulative(quietPeriod: .seconds(1)), payloadErrors: PayloadErrors()) {
                _, _ in
            }
            : SenderConnector { _ in .confirmed }
        let engine = try PushEngine(journal: InMemoryJournal(), routes: [Route(connector: connector)])
        let receipts = await engine.producer.submit([Self.broadcast])
        guard case .refused(let refusal) = receipts[0] else { return #expect(Bool(false), "\(receipts)") }
        #expect(refusal.reason == .broadcastUnsupported)
    }

    @Test("One that a topic is tried with, and that is answered as if it had a bad token, is rejected like any other")
    func probe() throws {
        let bench = try Bench()
        let refused = SendResult(apnsStatus: 400, reason: "TopicDisallowed")
        bench.answer = { _ in refused }
        try bench.submit([Self.broadcast])
        bench.settle()
        #expect(bench.status.topicsSetAside["default"]?.count == 1)
        bench.connection.state.withLock { $0.answer = { _ in SendResult(apnsStatus: 400, reason: "BadDeviceToken") } }
        bench.advance(by: .seconds(2))
        #expect(bench.status.rejected == [.badDeviceToken: 1])
        #expect(bench.status.topicsSetAside.isEmpty)
        #expect(bench.journal.blacklist.count == 0)
    }
}
