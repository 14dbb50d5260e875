import Testing

@testable import Holdfast

@Suite struct ScheduleTests {
    @Test("Backoff doubles up to its maximum, with full jitter and never a busy loop") func backoff() {
        let retry = RetrySchedule(minimum: .seconds(1), maximum: .seconds(60))
        #expect(retry.delay(attempt: 1, random: 0.999) < .seconds(1))
        #expect(retry.delay(attempt: 1, random: 0) == .milliseconds(500))
        #expect(retry.delay(attempt: 4, random: 0.5) == .seconds(4))
        #expect(retry.delay(attempt: 1000, random: 0.999) < .seconds(60))
    }

    @Test("Retry-After is the least delay, up to the maximum") func retryAfter() {
        let retry = RetrySchedule(minimum: .seconds(1), maximum: .seconds(60))
        #expect(retry.delay(attempt: 1, retryAfter: .seconds(30), random: 0) == .seconds(30))
        #expect(retry.delay(attempt: 1, retryAfter: .seconds(3000), random: 0.5) == .seconds(60))
    }

    @Test("A connection that worked makes the next one come at once") func reconnect() {
        var schedule = ReconnectSchedule(minimum: .seconds(1), maximum: .seconds(8))
        #expect(schedule.failed(random: 0.5) == .milliseconds(500))
        #expect(schedule.failed(random: 0.5) == .seconds(1))
        for _ in 0..<100 { _ = schedule.failed(random: 0.5) }
        #expect(schedule.failed(random: 0.5) == .seconds(4))
        schedule.worked()
        #expect(schedule.failed(random: 0.5) == .milliseconds(500))
    }

    @Test("The bound doubles with each attempt, as often as it may") func doublings() {
        let retry = RetrySchedule(minimum: .seconds(1), maximum: .seconds(10_000), greatestDoublings: 3)
        #expect(
            (1...6).map { retry.delay(attempt: $0, random: 0.75) }
                == [750, 1500, 3000, 6000, 6000, 6000].map { .milliseconds($0) })
    }

    @Test("An entry is given up when it was tried too often, or is too old") func exhausted() {
        let retry = RetrySchedule(greatestCount: 3, greatestAge: .seconds(60))
        #expect(!retry.isExhausted(attempts: 2, age: .seconds(60)))
        #expect(retry.isExhausted(attempts: 3, age: .zero))
        #expect(retry.isExhausted(attempts: 1, age: .seconds(61)))
    }
}

@Suite struct HousekeepingTests {
    private let wall = WallTime(seconds: 1_800_000_000)

    private var clock: ClockTrust.Reading {
        ClockTrust.Reading(isTrusted: true, distrustedUntil: nil, earliest: wall, memory: wall)
    }

    @Test("It is time once an interval, counted from the end of the last time, and never twice at once") func interval()
    {
        var keeping = Housekeeping(EngineConfiguration(), isInCharge: true)
        #expect(keeping.due(now: .seconds(10), clock) == nil)
        #expect(keeping.next == .seconds(70))
        #expect(keeping.due(now: .seconds(69), clock) == nil)
        let bounds = keeping.due(now: .seconds(70), clock)
        #expect(bounds?.rejectionsBefore == wall.advanced(by: .seconds(-30 * 86_400)))
        #expect(bounds?.greatestRejections == 100_000)
        #expect(bounds?.identitiesBefore == wall.advanced(by: .seconds(-86_400)))
        #expect(bounds?.greatestIdentities == 1_000_000)
        #expect(keeping.next == nil)
        #expect(keeping.due(now: .seconds(1000), clock) == nil)
        #expect(keeping.due(now: .seconds(1001), clock) == nil)
        keeping.trimmed(now: .seconds(1002))
        #expect(keeping.next == .seconds(1062))
    }

    @Test("The time is noted every minute between, and not while the clock is distrusted") func noted() {
        var configuration = EngineConfiguration()
        configuration.housekeeping = .seconds(600)
        var keeping = Housekeeping(configuration, isInCharge: true)
        #expect(keeping.due(now: .zero, clock) == nil)
        #expect(keeping.next == .seconds(60))
        #expect(keeping.due(now: .seconds(60), clock) == TrimBounds(earliestTime: wall))
        #expect(keeping.next == nil)
        keeping.trimmed(now: .seconds(60))
        #expect(keeping.next == .seconds(120))
        let doubted = ClockTrust.Reading(
            isTrusted: false, distrustedUntil: .seconds(700), earliest: wall, memory: nil)
        #expect(keeping.due(now: .seconds(120), doubted) == nil)
        #expect(keeping.next == .seconds(180))
        for second in stride(from: 180, to: 600, by: 60) {
            #expect(keeping.due(now: .seconds(second), clock)?.rejectionsBefore == nil)
            keeping.trimmed(now: .seconds(second))
        }
        #expect(keeping.due(now: .seconds(600), doubted)?.greatestRejections == 100_000)
        keeping.trimmed(now: .seconds(601))
        #expect(keeping.next == .seconds(661))
    }

    @Test("One Consumer of an engine does it for all") func inCharge() {
        var keeping = Housekeeping(EngineConfiguration(), isInCharge: false)
        for second in 0..<1000 { #expect(keeping.due(now: .seconds(second), clock) == nil) }
        #expect(keeping.next == nil)
    }
}

@Suite struct OutcomeGateTests {
    @Test("Two routes together never have more in flight than there is room for") func twoRoutes() {
        let gate = OutcomeGate(limit: 10)
        #expect(gate.reserve(8, route: 0, inFlight: 0, waiting: 1) == 8)
        #expect(gate.reserve(8, route: 1, inFlight: 0, waiting: 1) == 1)
        #expect(gate.reserve(1, route: 1, inFlight: 1, waiting: 1) == 0)
        _ = gate.settle(route: 0, inFlight: 3)
        #expect(gate.reserve(8, route: 1, inFlight: 1, waiting: 1) == 5)
    }

    @Test("A route that was denied room is to be woken when another gives some back, once") func wakes() {
        let gate = OutcomeGate(limit: 5)
        #expect(gate.reserve(5, route: 0, inFlight: 0, waiting: 0) == 5)
        #expect(gate.reserve(5, route: 1, inFlight: 0, waiting: 0) == 0)
        #expect(gate.settle(route: 0, inFlight: 5) == [])
        #expect(gate.settle(route: 0, inFlight: 4) == [1])
        #expect(gate.settle(route: 0, inFlight: 3) == [])
    }

    @Test("Without a limit there is always room") func unlimited() {
        let gate = OutcomeGate(limit: nil)
        #expect(gate.reserve(1000, route: 0, inFlight: .max / 2, waiting: .max / 2) == 1000)
        var asked = 0
        func waiting() -> Int {
            asked += 1
            return 0
        }
        let granted = gate.reserve(1, route: 0, inFlight: 0, waiting: waiting())
        let hasRoom = gate.hasRoom(route: 0, inFlight: 0, waiting: waiting())
        #expect(granted == 1 && hasRoom && asked == 0)
    }

    @Test("Random hand-outs of three routes stay within the limit", arguments: 0..<50 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        let gate = OutcomeGate(limit: 20)
        var inFlight = [0, 0, 0]
        var waiting = 0
        for _ in 0..<500 {
            let route = Int.random(in: 0..<3, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let wanted = Int.random(in: 1...10, using: &random)
                let granted = gate.reserve(wanted, route: route, inFlight: inFlight[route], waiting: waiting)
                #expect(granted <= wanted, "seed \(seed)")
                inFlight[route] += Int.random(in: 0...granted, using: &random)
                _ = gate.settle(route: route, inFlight: inFlight[route])
            case 1 where inFlight[route] > 0:
                inFlight[route] -= 1
                waiting += Int.random(in: 0...1, using: &random)
                _ = gate.settle(route: route, inFlight: inFlight[route])
            default: waiting = max(0, waiting - Int.random(in: 0...3, using: &random))
            }
            #expect(inFlight.reduce(0, +) + waiting <= 20, "seed \(seed)")
        }
    }
}
