import Testing

@testable import Holdfast

@Suite struct ConditionsTests {
    private var machine = Conditions(interval: .seconds(60))

    private func moment(_ seconds: Int) -> Moment {
        Moment(monotonic: .seconds(seconds), wall: WallTime(seconds: 1_800_000_000 + Int64(seconds)))
    }

    private func away(
        _ route: String = "default", since: Int = 0, affected: Int = 0, failures: Int = 0, cause: String = ""
    ) -> HealthCondition {
        HealthCondition(
            .serviceAway, .warning, "route", route, route: route, since: moment(since).wall, affected: affected,
            failures: failures, cause: cause, what: "route \(route) can't reach its push service", next: "look")
    }

    @Test("A condition is told once when it begins, and once when it is over, with how long and how many")
    mutating func once() throws {
        #expect(machine.look([away(failures: 1)], at: moment(0)).map(\.event) == ["service-away"])
        #expect(machine.look([away(affected: 7, failures: 2)], at: moment(10)).isEmpty)
        #expect(machine.look([away(affected: 3, failures: 3)], at: moment(20)).isEmpty)
        #expect(machine.all.map(\.affected) == [3])
        let over = try #require(machine.look([], at: moment(250)).first)
        #expect(over.event == "service-away-over")
        #expect(over.kind == .ended(lasted: .seconds(250)))
        #expect(
            over.message
                == "the push service answers again (route default): it lasted 4.17 min, 7 notifications waited, "
                + "3 connections failed")
        #expect(machine.isEmpty)
    }

    @Test("After a step of the clock a condition began when it did by the present clock", arguments: [-7200, 7200])
    mutating func stepped(_ step: Int) {
        _ = machine.look([away()], at: moment(0))
        _ = machine.look([away()], at: moment(100))
        #expect(machine.all.map(\.since) == [moment(0).wall])
        let wall = moment(110).wall.advanced(by: .seconds(step))
        _ = machine.look([away()], at: Moment(monotonic: .seconds(110), wall: wall))
        #expect(machine.all.map(\.since) == [wall.advanced(by: .seconds(-110))])
    }

    @Test("What had been there before it was found counts") mutating func lead() {
        _ = machine.look([away(since: 0)], at: moment(100))
        #expect(machine.look([], at: moment(110)).map(\.kind) == [.ended(lasted: .seconds(110))])
    }

    @Test("Another cause is told, and an interval later another one") mutating func causes() {
        _ = machine.look([away(cause: "refused")], at: moment(0))
        let soon = machine.look([away(cause: "no route to host")], at: moment(10))
        #expect(soon.map(\.kind) == [.changed] && soon.map(\.isTold) == [false])
        let later = machine.look([away(cause: "expired")], at: moment(61))
        #expect(later.map(\.kind) == [.changed] && later.map(\.isTold) == [true])
        #expect(later.map(\.leftOut) == [1])
    }

    @Test(
        "What comes and goes is told once in an interval, and the end with each beginning, so that the last line is true"
    )
    mutating func flaps() {
        var told: [String] = []
        for second in 0..<600 {
            for change in machine.look(second.isMultiple(of: 2) ? [away()] : [], at: moment(second)) where change.isTold
            {
                told.append(change.event)
            }
        }
        #expect(told.count == 20)
        #expect(told == (0..<10).flatMap { _ in ["service-away", "service-away-over"] })
    }

    private mutating func told(_ found: [HealthCondition], at second: Int) -> [String] {
        machine.look(found, at: moment(second)).filter(\.isTold).map(\.event)
    }

    @Test("What began again too soon is told when the interval is over and it still holds, and then its end")
    mutating func heldBack() throws {
        #expect(told([away()], at: 0) == ["service-away"])
        #expect(told([], at: 3) == ["service-away-over"])
        #expect(machine.nextTelling == nil)
        #expect(told([away(since: 5)], at: 5) == [])
        #expect(machine.nextTelling == .seconds(60))
        #expect(told([away(since: 5, affected: 98)], at: 59) == [])
        let late = try #require(machine.look([away(since: 5, affected: 99)], at: moment(60)).first)
        #expect(late.kind == .began && late.isTold && late.leftOut == 0 && late.condition.affected == 99)
        #expect(late.condition.since == moment(5).wall && machine.nextTelling == nil)
        #expect(machine.look([], at: moment(80)).map(\.kind) == [.ended(lasted: .seconds(75))])
        #expect(machine.isEmpty)
    }

    @Test("What began again too soon and is over in time has no line, and is counted in the next")
    mutating func passed() throws {
        _ = told([away()], at: 0)
        _ = told([], at: 3)
        for second in [5, 10, 15] {
            #expect(told([away(since: second)], at: second) == [])
            #expect(told([], at: second + 1) == [] && machine.nextTelling == nil)
        }
        #expect(told([away(since: 40)], at: 40) == [])
        let late = try #require(machine.look([away(since: 40)], at: moment(60)).first)
        #expect(late.leftOut == 3 && late.message.contains("(and 3 times since it was last said)"))
        _ = told([], at: 61)
        _ = told([away()], at: 62)
        _ = told([], at: 63)
        let next = try #require(machine.look([away()], at: moment(130)).first)
        #expect(next.message.contains("(and once since it was last said)"))
    }

    @Test("Another cause that was held back is told when the interval is over, unless the old one is back")
    mutating func heldCause() {
        _ = told([away(cause: "refused")], at: 0)
        #expect(told([away(cause: "expired")], at: 10) == [] && machine.nextTelling == .seconds(60))
        let late = machine.look([away(cause: "expired")], at: moment(60))
        #expect(late.map(\.kind) == [.changed] && late.map(\.isTold) == [true] && late.map(\.leftOut) == [0])
        _ = told([away(cause: "refused")], at: 70)
        _ = told([away(cause: "expired")], at: 80)
        #expect(machine.nextTelling == nil)
        #expect(told([away(cause: "expired")], at: 200) == [])
    }

    @Test("What gets worse is told again, and what gets better is not") mutating func worse() {
        var idle = away()
        idle.severity = .notice
        #expect(told([idle], at: 0) == ["service-away"])
        #expect(machine.look([away()], at: moment(100)).map(\.kind) == [.changed])
        #expect(told([idle], at: 300) == [] && machine.nextTelling == nil)
        #expect(told([], at: 301) == ["service-away-over"])
    }

    @Test("A thousand of a kind at once are twenty lines an interval until all are told, and so are their ends")
    mutating func many() {
        let all = (0..<1000).map { away("route\($0)") }
        #expect(told(all, at: 0).count == 20)
        #expect(machine.all.count == 1000 && machine.nextTelling == .seconds(60))
        #expect(told(all, at: 59).count == 0)
        #expect(told(all, at: 60).count == 20)
        // Of forty that were told.
        #expect(told([], at: 61) == Array(repeating: "service-away-over", count: 20))
        #expect(machine.all.isEmpty && !machine.isEmpty && machine.nextTelling == .seconds(121))
        #expect(told([], at: 120) == [])
        #expect(told([], at: 121) == Array(repeating: "service-away-over", count: 20))
        #expect(machine.isEmpty && machine.nextTelling == nil)
    }

    @Test("An end that was held back is not told of what is there again") mutating func returned() {
        let all = (0..<40).map { away("route\($0)") }
        _ = told(all, at: 0)
        _ = told(all, at: 60)
        let over = Set(machine.look([], at: moment(61)).filter(\.isTold).compactMap(\.condition.route))
        let back = all.filter { !over.contains($0.subject) }
        #expect(over.count == 20 && back.count == 20)
        #expect(told(back, at: 100) == [])
        #expect(told(back, at: 500) == [])
        #expect(told([], at: 501).count == 20 && machine.isEmpty)
    }

    @Test("The worst comes first, then the oldest") mutating func order() {
        let paused = HealthCondition(.lanePaused, .notice, "lane", "a", since: moment(0).wall, what: "a", next: "b")
        let full = HealthCondition(.journalFull, .fault, "journal", since: moment(9).wall, what: "a", next: "b")
        _ = machine.look([paused, away("b", since: 2), away("a", since: 1), full], at: moment(10))
        #expect(machine.all.map(\.kind) == [.journalFull, .serviceAway, .serviceAway, .lanePaused])
        #expect(machine.all.map(\.subject) == ["", "a", "b", "a"])
        #expect(!machine.all.areHealthy && [paused].areHealthy)
    }

    @Test("Every kind is a word that can be an anchor, and is listed once", arguments: HealthCondition.Kind.all)
    func kinds(kind: HealthCondition.Kind) {
        #expect(kind.rawValue.allSatisfy { $0.isLowercase || $0 == "-" })
        #expect(HealthCondition.Kind.all.count { $0 == kind } == 1)
    }
}
