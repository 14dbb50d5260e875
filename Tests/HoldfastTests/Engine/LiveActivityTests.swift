import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Updates of live activities that a newer one makes needless, where that is asked for.
@Suite(.timeLimit(.minutes(1))) struct LiveActivityTests {
    private static func activity(
        _ timestamp: Int, _ event: String = "update", token: Int = 0, type: PushType = .liveactivity
    ) -> PushNotification {
        var notification = Sample.notification(token)
        notification.payload = Array(
            #"{"aps":{"timestamp":\#(timestamp),"event":"\#(event)","content-state":{}}}"#.utf8)
        notification.pushType = type
        return notification
    }

    private func bench(_ journal: InMemoryJournal = InMemoryJournal(), supersedes: Bool = true) throws -> Bench {
        let bench = try Bench(journal) {
            $0.supersedesLiveActivities = supersedes
            $0.keepsOutcomes = true
        }
        bench.accepts = false
        bench.answer = { _ in .confirmed }
        return bench
    }

    /// The timestamps that went out, after everything was let go.
    private func sent(_ bench: Bench) -> [String] {
        bench.accepts = true
        bench.advance(by: .seconds(2))
        return bench.connections[0].flatMap(\.sent).map { String(decoding: $0.notification.payload, as: UTF8.self) }
    }

    private func payload(_ notification: PushNotification) -> String {
        String(decoding: notification.payload, as: UTF8.self)
    }

    @Test("Only the newest update of an activity goes; the others are superseded") func newest() throws {
        let bench = try bench()
        let all = [Self.activity(1), Self.activity(2), Self.activity(3), Self.activity(1, token: 7)]
        try bench.submit(all)
        #expect(sent(bench) == [payload(all[2]), payload(all[3])])
        let outcomes = try bench.journal.outcomes(after: .start, limit: 10).outcomes
        #expect(outcomes.map(\.terminal) == [.superseded, .superseded, .confirmed, .confirmed])
        #expect(bench.status.superseded == 2)
    }

    @Test("By its timestamp, whatever the order of submission") func lateComer() throws {
        let bench = try bench()
        let all = [Self.activity(5), Self.activity(4)]
        try bench.submit(all)
        #expect(sent(bench) == [payload(all[0])])
    }

    @Test("Starts and ends go, and an end makes updates before it needless") func startsAndEnds() throws {
        let bench = try bench()
        let all = [Self.activity(1, "start"), Self.activity(2), Self.activity(3, "end")]
        try bench.submit(all)
        #expect(sent(bench) == [payload(all[0]), payload(all[2])])
    }

    @Test("What is of one age, of another type, or without a timestamp goes") func others() throws {
        let bench = try bench()
        var bare = Self.activity(1)
        bare.payload = Array(#"{"aps":{"event":"update"}}"#.utf8)
        let all = [
            Self.activity(2), Self.activity(2), Self.activity(1, type: .alert), bare,
        ]
        try bench.submit(all)
        #expect(sent(bench).sorted() == all.map(payload).sorted())
    }

    @Test("Unless it is asked for, all go") func notAskedFor() throws {
        let bench = try bench(supersedes: false)
        let all = [Self.activity(1), Self.activity(2)]
        try bench.submit(all)
        #expect(sent(bench) == all.map(payload))
    }

    @Test("One that was refused stands for nothing") func refused() throws {
        let bench = try bench()
        let all = [Self.activity(1), Self.activity(2, "end")]
        bench.core.pause(bench.lane())
        try bench.submit(all[..<1].map { $0 })
        var end = all[1]
        end.guarantee = .atMostOnce
        bench.accepts = true
        bench.answer = { _ in SendResult(apnsStatus: 400, reason: "PayloadEmpty") }
        try bench.submit([end])
        bench.advance(by: .seconds(1))
        #expect(bench.status.rejectedTotal == 1)
        bench.connections[0].last?.state.withLock { $0.answer = { _ in .confirmed } }
        bench.core.resume(bench.lane())
        bench.advance(by: .seconds(1))
        #expect(bench.status.confirmed == 1)
        #expect(bench.status.superseded == 0)
    }

    @Test("One that is expired when an older one has its turn stands for nothing") func expired() throws {
        let bench = try bench()
        var newer = Self.activity(2)
        newer.expiration = Expiration(unixSeconds: bench.clock.wall.seconds + 2)
        try bench.submit([Self.activity(1), newer])
        bench.advance(by: .seconds(4))
        #expect(sent(bench) == [payload(Self.activity(1))])
        #expect(bench.status.superseded == 0)
    }

    @Test("One that may have been sent before is unknown, not superseded") func possiblySent() throws {
        let first = try bench()
        first.accepts = true
        first.answer = { _ in nil }
        try first.submit([Self.activity(1)])
        first.settle()
        #expect(first.sent.count == 1)
        let bench = try bench(first.journal.crashed(mode: .immediate))
        try bench.submit([Self.activity(2)])
        #expect(sent(bench) == [payload(Self.activity(2))])
        #expect(bench.status.unknown == 1)
    }

    @Test("Memory is bounded: the activity that was heard of first is forgotten first") func bounded() throws {
        var updates = LiveActivityUpdates(limit: 3)
        func activity(_ number: Int) -> LiveActivityUpdates.Activity {
            .init(recipient: Sample.notification(number).recipient, topic: "t")
        }
        func update(_ timestamp: Int) throws -> LiveActivityUpdate {
            let payload = Self.activity(timestamp).payload
            let update = LiveActivityUpdate(payload.span, in: 0..<payload.count)
            return try #require(update)
        }
        for number in 0..<10 { updates.accepted(try update(5), of: activity(number), as: UID(UInt64(number + 1))) }
        for number in 0..<10 {
            let successor = updates.successor(
                of: try update(4), of: activity(number), uid: UID(100), at: WallTime(seconds: 1))
            #expect(successor?.uid == (number < 7 ? nil : UID(UInt64(number + 1))))
        }
    }
}
