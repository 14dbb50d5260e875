import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Refusals of a share of the notifications, for their own sake: the others go out all the same.
@Suite(.timeLimit(.minutes(2))) struct ShareTests {
    private static let failed = SendResult(apnsStatus: 500, reason: "InternalServerError")
    private static let tooMany = SendResult(apnsStatus: 429, reason: "TooManyRequests")

    private func bench() throws -> Bench { try Bench { $0.throttle = ThrottlePolicy() } }

    private func notification(_ number: Int, to device: Int) -> PushNotification {
        var bytes = Array(repeating: UInt8(0), count: 32)
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: device >> (8 * index)) }
        return PushNotification(
            token: DeviceToken(checked: bytes), topic: "com.example.app",
            payload: Array(#"{"aps":{"alert":"\#(number)"}}"#.utf8))
    }

    @Test(
        "Of a backlog of which a share is always refused all others go out within a minute",
        arguments: [(500, 1.0 / 3), (500, 0.2), (429, 1.0 / 3)], UInt64(1)...2)
    func backlog(_ what: (status: Int, share: Double), _ seed: UInt64) throws {
        let bench = try bench()
        var random = Xoshiro256(seed: seed)
        let bad = Set((0..<3000).filter { _ in Double.random(in: 0..<1, using: &random) < what.share })
        let refusal = what.status == 500 ? Self.failed : Self.tooMany
        let service = DelayedService(bench) { bad.contains(Sample.number(of: $0)) ? refusal : nil }
        try bench.submit(0..<3000)
        try service.run(for: .seconds(60))
        #expect(service.taken == 3000 - bad.count)
        #expect(bench.status.rejectedTotal == 0)
    }

    @Test(
        "One device that is always refused holds up no other, however much there is for it",
        arguments: [(500, 200, 100), (500, 1000, 500), (429, 1000, 660), (429, 200, 100)])
    func hotDevice(_ status: Int, _ hotEach: Int, _ goodEach: Int) throws {
        let bench = try bench()
        let refusal = status == 500 ? Self.failed : Self.tooMany
        let service = DelayedService(bench) { Sample.number(of: $0) == 700_000 ? refusal : nil }
        var (good, hot) = (0, 0)
        try service.run(for: .seconds(120)) { time in
            if time / .milliseconds(hotEach) >= Double(hot) {
                try bench.submit([notification(hot, to: 700_000)])
                hot += 1
            }
            if time / .milliseconds(goodEach) >= Double(good) {
                try bench.submit(good..<good + 1)
                good += 1
            }
        }
        try service.run(for: .seconds(10))
        #expect(service.taken == good)
    }

    @Test("A device of which something is taken now and then is not to blame for the refusals of a service")
    func notToBlame() {
        var refused = RefusedEntries()
        for number in UInt64(1)...20 {
            refused.granted(1)
            let key = EntryKey(lane: LaneID(rawValue: 0), uid: UID(number))
            #expect(!refused.refused(key, recipient: 7).isCause)
            if number.isMultiple(of: 2) { _ = refused.taken(key, recipient: 7) }
        }
    }

    @Test("A device of which three notifications were refused, others taken in between, is the cause")
    func toBlame() {
        var refused = RefusedEntries()
        let causes = (UInt64(1)...4).map { number in
            refused.granted(1)
            return refused.refused(EntryKey(lane: LaneID(rawValue: 0), uid: UID(number)), recipient: 7).isCause
        }
        #expect(causes == [false, false, true, true])
    }

    @Test("Where nothing is taken no device is to blame") func outage() {
        var refused = RefusedEntries()
        refused.granted(5)
        for number in UInt64(1)...20 {
            let key = EntryKey(lane: LaneID(rawValue: 0), uid: UID(number))
            #expect(!refused.refused(key, recipient: 7).isCause)
        }
    }
}
