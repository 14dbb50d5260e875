import HoldfastAPNsAnswers
import Testing

@testable import Holdfast

/// Each verdict, for each guarantee, with and without an attempt before that may have left.
@Suite struct SettlementPlanTests {
    private let wall = WallTime(seconds: 1_800_000_000)

    /// What a plan does with the one entry it was asked about.
    private func fate(
        _ result: SendResult, _ guarantee: Guarantee, possiblySentBefore: Bool, attempts: UInt16 = 0,
        age: Duration = .zero
    ) -> String {
        var plan = SettlementPlan()
        let flight = SentWindow.Flight(
            lane: 0, uid: UID(1), attempts: attempts, possiblySentBefore: possiblySentBefore,
            hasOneAttempt: guarantee == .atMostOnce, acceptedAt: wall.advanced(by: .zero - age))
        plan.add(
            result, for: flight, ticket: Ticket(rawValue: 1), lane: LaneID(rawValue: 1),
            retry: RetrySchedule(minimum: .seconds(1), greatestCount: 3), wall: wall, random: { 0.5 })
        return describe(plan)
    }

    private func describe(_ plan: SettlementPlan) -> String {
        var words: [String] = []
        if !plan.now.batch.acknowledged.isEmpty { words.append("confirmed") }
        for (part, when) in [(plan.now, ""), (plan.afterBlacklist, " after the blacklist")] {
            for settlement in part.batch.others {
                switch settlement.kind {
                case .reject(let cause): words.append("rejected \(cause.reason)" + when)
                case .expire: words.append("expired" + when)
                case .unknown: words.append("unknown" + when)
                case .withdraw, .withdrawSent: words.append("withdrawn" + when)
                case .supersede: words.append("superseded" + when)
                case .recall: words.append("recalled" + when)
                case .move(let lane, _, let reason, _): words.append("moved to lane \(lane.rawValue), \(reason)" + when)
                case .deferUntil(let due, let attempts, let reason, let possiblySent):
                    let wait = due.since(wall).wholeMilliseconds
                    words.append(
                        "deferred \(wait) ms, \(attempts) attempts, \(reason)\(possiblySent ? ", possibly sent" : "")")
                }
            }
        }
        for requeue in plan.requeues { words.append("requeued\(requeue.possiblySent ? ", possibly sent" : "")") }
        for stop in plan.stops { words.append("stops \(stop.cause)") }
        if plan.parks { words.append("parks") }
        if !plan.suspects.isEmpty { words.append("suspect") }
        let blacklist = plan.blacklist.map { "blacklists since \($0.since.milliseconds)" }
        return (words + blacklist).joined(separator: "; ")
    }

    private static let rules: [(SendResult, [String])] = [
        // At least once, then at most once; each first never sent before, then possibly sent before.
        (.confirmed, ["confirmed", "confirmed", "confirmed"]),
        (
            SendResult(.rejected(.notification), status: 400, reason: .badTopic),
            ["rejected BadTopic", "rejected BadTopic", "rejected BadTopic"]
        ),
        (
            SendResult(.rejected(.token), reason: .unregistered, timestamp: WallTime(milliseconds: 5)),
            Array(repeating: "rejected Unregistered after the blacklist; blacklists since 5", count: 3)
        ),
        (SendResult(.rejected(.suspectToken), reason: .badDeviceToken), ["suspect", "suspect", "suspect"]),
        (SendResult(.rejected(.request), status: 404), Array(repeating: "rejected Status404", count: 3)),
        (
            SendResult(.deferred(.service), status: 503),
            [
                "deferred 500 ms, 1 attempts, ServiceUnavailable",
                "deferred 500 ms, 1 attempts, ServiceUnavailable, possibly sent",
                "deferred 500 ms, 1 attempts, ServiceUnavailable",
            ]
        ),
        (
            SendResult(.deferred(.token), status: 429, reason: .tooManyRequests, retryAfter: .seconds(7)),
            [
                "deferred 7500 ms, 1 attempts, TooManyRequests",
                "deferred 7500 ms, 1 attempts, TooManyRequests, possibly sent",
                "deferred 7500 ms, 1 attempts, TooManyRequests",
            ]
        ),
        (
            SendResult(.deferred(.credentials), status: 429, reason: .tooManyProviderTokenUpdates),
            [
                "requeued; parks", "requeued, possibly sent; parks",
                "deferred 0 ms, 0 attempts, TooManyProviderTokenUpdates; parks",
            ]
        ),
        (
            SendResult(.neverProcessed(.newConnection)),
            ["requeued", "requeued, possibly sent", "deferred 0 ms, 0 attempts, NeverProcessed"]
        ),
        (
            SendResult(.laneStopped(.credentials), status: 403, reason: .forbidden),
            [
                "requeued; stops credentials", "requeued, possibly sent; stops credentials",
                "deferred 0 ms, 0 attempts, Forbidden; stops credentials",
            ]
        ),
        (
            SendResult(.unknown, detail: "no answer"),
            [
                "deferred 500 ms, 1 attempts, NoAnswer, possibly sent",
                "deferred 500 ms, 1 attempts, NoAnswer, possibly sent", "unknown",
            ]
        ),
    ]

    @Test("Every verdict has its settlement, by the guarantee and by what may have left before", arguments: 0..<11)
    func verdicts(_ index: Int) {
        #expect(Self.rules.count == 11)
        let (result, expected) = Self.rules[index]
        #expect(fate(result, .atLeastOnce, possiblySentBefore: false) == expected[0])
        #expect(fate(result, .atLeastOnce, possiblySentBefore: true) == expected[1])
        #expect(fate(result, .atMostOnce, possiblySentBefore: false) == expected[2])
    }

    @Test(
        "Too many attempts, or too old: rejected, and unknown when one of them may have been taken",
        arguments: [(UInt16(2), Duration.zero), (0, .seconds(4 * 86_400))])
    func exhausted(_ attempts: UInt16, _ age: Duration) {
        let busy = SendResult(.deferred(.service))
        func fate(_ result: SendResult, _ guarantee: Guarantee, _ possiblySentBefore: Bool) -> String {
            self.fate(result, guarantee, possiblySentBefore: possiblySentBefore, attempts: attempts, age: age)
        }
        #expect(fate(busy, .atLeastOnce, false) == "rejected TooManyAttempts")
        #expect(fate(busy, .atMostOnce, false) == "rejected TooManyAttempts")
        #expect(fate(busy, .atLeastOnce, true) == "unknown")
        #expect(fate(SendResult(.unknown), .atLeastOnce, false) == "unknown")
    }

    @Test("A connection that ends without an answer: again, or unknown, and what never left goes freely")
    func unanswered() {
        func fate(_ guarantee: Guarantee, possiblySent: Bool, before: Bool = false) -> String {
            var plan = SettlementPlan()
            plan.addUnanswered(
                SentWindow.Flight(
                    lane: 0, uid: UID(1), attempts: 3, possiblySentBefore: before,
                    hasOneAttempt: guarantee == .atMostOnce, acceptedAt: wall),
                ticket: Ticket(rawValue: 1), lane: LaneID(rawValue: 1), possiblySent: possiblySent, wall: wall)
            return describe(plan)
        }
        #expect(fate(.atLeastOnce, possiblySent: true) == "requeued, possibly sent")
        #expect(fate(.atLeastOnce, possiblySent: false) == "requeued")
        #expect(fate(.atLeastOnce, possiblySent: false, before: true) == "requeued, possibly sent")
        #expect(fate(.atMostOnce, possiblySent: true) == "unknown")
        #expect(fate(.atMostOnce, possiblySent: false) == "deferred 0 ms, 3 attempts, NeverProcessed")
    }

    @Test("A convicted token is as bad as its answer is old") func convicted() {
        var plan = SettlementPlan()
        let suspect = CircuitBreaker.Suspect(
            connection: 1, ticket: Ticket(rawValue: 1),
            flight: SentWindow.Flight(
                lane: 0, uid: UID(1), attempts: 0, possiblySentBefore: false, hasOneAttempt: false, acceptedAt: wall),
            token: TokenOfTopic(recipient: .device(Sample.token), topic: "com.example.app"),
            result: SendResult(.rejected(.suspectToken), status: 400, reason: .badDeviceToken),
            answeredAt: WallTime(milliseconds: 77))
        plan.convict(suspect, lane: LaneID(rawValue: 1), wall: wall)
        #expect(describe(plan) == "rejected BadDeviceToken after the blacklist; blacklists since 77")
    }

    @Test("What may have been taken is called neither expired nor blacklisted, but unknown") func ours() {
        let key = EntryKey(lane: LaneID(rawValue: 1), uid: UID(1))
        for possiblySent in [false, true] {
            var plan = SettlementPlan()
            plan.expire(key, ticket: Ticket(rawValue: 1), possiblySent: possiblySent)
            plan.reject(key, ticket: Ticket(rawValue: 2), reason: .blacklisted, possiblySent: possiblySent, wall: wall)
            #expect(describe(plan) == (possiblySent ? "unknown; unknown" : "expired; rejected Blacklisted"))
        }
    }
}
