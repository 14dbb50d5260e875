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
    @Test("Times are summed up to a tenth of a millisecond, and the greatest is kept") func sums() {
        var clock = AnswerClock()
        clock.look(now: .seconds(100))
        let early = clock.now
        clock.look(now: .milliseconds(100_050))
        let late = clock.now
        clock.look(now: .microseconds(100_053_400))
        clock.answered(handedOutAt: early)
        clock.answered(handedOutAt: late)
        let times = clock.take()
        #expect(times == AnswerTimes(count: 2, total: .microseconds(56_800), greatest: .microseconds(53_400)))
        #expect(times.mean == .microseconds(28_400))
        #expect(clock.take() == AnswerTimes())
        #expect(clock.take().mean == nil)
    }

    @Test("The clock's going round does no harm") func wrap() {
        var clock = AnswerClock()
        let nearly = Duration.microseconds((Int64(UInt32.max) - 5) * 100)
        clock.look(now: nearly)
        let start = clock.now
        clock.look(now: nearly + .milliseconds(2))
        clock.answered(handedOutAt: start)
        #expect(clock.take().total == .milliseconds(2))
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
        #expect(window.takeAnswerTimes() == AnswerTimes(count: 1, total: .seconds(3), greatest: .seconds(3)))
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
