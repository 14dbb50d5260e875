import Foundation
import Testing

@testable import Holdfast

@Suite struct MeasureScheduleTests {
    @Test("It is measured at once, then at the interval, and a route at rest is left alone") func schedule() {
        var schedule = MeasureSchedule(interval: .seconds(10))
        #expect(schedule.isDue(now: .seconds(5)))
        schedule.measured(now: .seconds(5), isAtRest: false)
        #expect(!schedule.isDue(now: .seconds(14)))
        #expect(schedule.next == .seconds(15))
        schedule.measured(now: .seconds(15), isAtRest: true)
        #expect(schedule.next == nil)
        #expect(!schedule.isDue(now: .seconds(1000)))
        schedule.changed()
        #expect(schedule.isDue(now: .seconds(1000)))
    }

    @Test("What happens within the interval is measured at its end") func late() {
        var schedule = MeasureSchedule(interval: .seconds(10))
        schedule.measured(now: .seconds(1), isAtRest: true)
        schedule.changed()
        #expect(!schedule.isDue(now: .seconds(2)))
        #expect(schedule.next == .seconds(11))
    }
}

@Suite struct AnswerClockTests {
    private func take(_ clock: inout AnswerClock) -> Latencies {
        var tally = LatencyTally()
        clock.move(to: &tally)
        return tally.take()
    }

    @Test("Each answer is counted in the bucket of its time, and times are summed up to a tenth of a millisecond")
    func sums() {
        var clock = AnswerClock()
        clock.look(now: .seconds(100))
        let early = clock.now
        clock.look(now: .milliseconds(100_050))
        let late = clock.now
        clock.look(now: .microseconds(100_053_400))
        clock.answered(handedOutAt: early)
        clock.answered(handedOutAt: late)
        clock.answered(handedOutAt: late)
        let times = take(&clock)
        #expect(times.count == 3 && times.total == .microseconds(60_200) && times.greatest == .microseconds(53_400))
        #expect(Self.counts(times) == [5_000: 2, 100_000: 1])
        #expect(take(&clock) == Latencies())
        #expect(take(&clock).mean == nil)
    }

    /// The counts that are not 0, by the bound in microseconds; -1 for none.
    static func counts(_ latencies: Latencies) -> [Int64: Int] {
        var counts: [Int64: Int] = [:]
        for (index, count) in latencies.buckets.enumerated() where count > 0 {
            let bound = index < Latencies.bounds.count ? Latencies.bounds[index] / .microseconds(1) : -1
            counts[Int64(bound)] = count
        }
        return counts
    }

    @Test("The clock's going round does no harm") func wrap() {
        var clock = AnswerClock()
        let nearly = Duration.microseconds((Int64(UInt32.max) - 5) * 100)
        clock.look(now: nearly)
        let start = clock.now
        clock.look(now: nearly + .milliseconds(2))
        clock.answered(handedOutAt: start)
        #expect(take(&clock).total == .milliseconds(2))
    }

    @Test("A window tells how long answers took, and says nothing of what was given up") func window() {
        var window = SentWindow()
        let flight = SentWindow.Flight(
            lane: 0, uid: UID(1), attempts: 0, possiblySentBefore: false, hasOneAttempt: false,
            acceptedAt: WallTime(seconds: 0))
        window.look(now: .seconds(1), turn: 1)
        let (answered, givenUp) = (window.handOut(flight), window.handOut(flight))
        window.look(now: .seconds(4), turn: 1)
        #expect(window.answer(answered) != nil)
        #expect(window.answer(answered) == nil)
        #expect(window.giveUp(givenUp) != nil)
        #expect(window.giveUp(givenUp) == nil)
        var tally = LatencyTally()
        window.moveAnswerTimes(to: &tally)
        let times = tally.take()
        #expect(times.count == 1 && times.total == .seconds(3) && times.greatest == .seconds(3))
    }
}

@Suite struct LatencyTallyTests {
    @Test("A latency that equals a bound belongs to its bucket, and one beyond all bounds to the last") func bounds() {
        for (index, bound) in Latencies.bounds.enumerated() {
            var tally = LatencyTally()
            let ticks = UInt64(bound / .microseconds(100))
            tally.add(2, ticks: ticks)
            tally.add(3, ticks: ticks + 1)
            let taken = tally.take()
            #expect(taken.buckets[index] == 2 && taken.buckets[index + 1] == 3 && taken.count == 5)
            #expect(taken.greatest == bound + .microseconds(100))
        }
        #expect(Latencies.bounds == Latencies.bounds.sorted() && Latencies.bounds.first == .milliseconds(1))
    }

    @Test("Confirmed entries are timed from when they could go; what has no such time is left out") func confirmed() {
        var runs = ConfirmedRuns()
        let now = WallTime(milliseconds: 100_000)
        for _ in 0..<3 { runs.add(since: WallTime(milliseconds: 99_998)) }
        runs.add(2, since: WallTime(milliseconds: .max))
        runs.add(since: WallTime(milliseconds: 90_000))
        runs.add(since: WallTime(milliseconds: 99_998))
        // A clock that was set back.
        runs.add(since: WallTime(milliseconds: 200_000))
        var tally = LatencyTally()
        runs.count(into: &tally, now: now)
        #expect(AnswerClockTests.counts(tally.take()) == [1_000: 1, 2_500: 4, 10_000_000: 1])
    }

    @Test("A run of a cumulative window spans no more than a second, so no age is overstated by more") func runs() {
        var window = CumulativeWindow()
        for number in 0..<3000 {
            let time = WallTime(milliseconds: Int64(number))
            _ = window.handOut(
                SentWindow.Flight(
                    lane: 0, uid: UID(UInt64(number + 1)), attempts: 0, possiblySentBefore: false, hasOneAttempt: false,
                    acceptedAt: time))
        }
        let runs = window.confirm(through: 3000)
        #expect(runs.map(\.count) == [1001, 1001, 998] && runs.map(\.acceptedAt.milliseconds) == [0, 1001, 2002])
    }
}

@Suite struct ReasonLabelsTests {
    @Test("Known reasons keep their words whatever else comes, and foreign ones up to a limit") func limit() {
        var labels = ReasonLabels()
        for number in 0..<500 { _ = labels.label(for: Reason(rawValue: "Foreign\(number)")) }
        #expect(labels.label(for: Reason(rawValue: "Foreign99")) == "Foreign99")
        #expect(labels.label(for: Reason(rawValue: "Foreign100")) == "other")
        for reason in ReasonLabels.known { #expect(labels.label(for: reason) == reason.rawValue) }
    }

    @Test(
        "What is no word is not told apart",
        arguments: [
            "", "two words", "line\nbreak", "ä", "\"", String(repeating: "x", count: 49), "lower", "DEADBEEF12345678",
        ])
    func words(raw: String) {
        #expect(ReasonLabels.word(for: Reason(rawValue: raw)) == "other")
    }

    @Test("Every reason that Holdfast says itself is known") func complete() throws {
        let source = try String(
            contentsOf: Repository.root.appendingPathComponent("Sources/Holdfast/Values/Reason.swift"), encoding: .utf8)
        let named = source.matches(of: /static let \w+ = Reason\(rawValue: "(\w+)"\)/).map { String($0.1) }
        #expect(named.count > 30)
        #expect(Set(named).subtracting(ReasonLabels.known.map(\.rawValue)) == [])
        #expect(Set(ReasonLabels.known.map(\.rawValue)).subtracting(named) == [])
    }

    @Test("All of Apple's words together are told apart, and have the form of a word") func apples() throws {
        let source = try String(
            contentsOf: Repository.root.appendingPathComponent("Sources/HoldfastAPNsAnswers/Reason+APNs.swift"),
            encoding: .utf8)
        let named = source.matches(of: /Reason\(rawValue: "(\w+)"\)/).map { String($0.output.1) }
        #expect(named.count > 25)
        var labels = ReasonLabels()
        for word in named { #expect(labels.label(for: Reason(rawValue: word)) == word) }
    }
}

enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
}
