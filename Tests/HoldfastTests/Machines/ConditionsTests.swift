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
        #expect(machine.all.map(\.affected) == [7])
        let over = try #require(machine.look([], at: moment(250)).first)
        #expect(over.event == "service-away-over")
        #expect(over.kind == .ended(lasted: .seconds(250)))
        #expect(
            over.message
                == "the push service answers again (route default): it lasted 4.17 min, 7 notifications waited, "
                + "3 connections failed")
        #expect(machine.isEmpty)
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

    @Test("A thousand of a kind at once are twenty lines, and all are listed") mutating func many() {
        let all = (0..<1000).map { away("route\($0)") }
        #expect(machine.look(all, at: moment(0)).count { $0.isTold } == 20)
        #expect(machine.all.count == 1000)
        #expect(machine.look([], at: moment(1)).count { $0.isTold } == 20)
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
