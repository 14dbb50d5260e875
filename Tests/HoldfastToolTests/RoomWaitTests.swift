import Holdfast
import Testing

@testable import HoldfastTool

@Suite("Waiting for room in the journal of a process that uses it")
struct RoomWaitTests {
    private static let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)

    private func status(_ kinds: [HealthCondition.Kind], unconfirmed: Int = 10) -> DeskStatus {
        var status = DeskStatus(
            lanes: [
                DeskStatus.Lane(
                    key: Self.lane, state: .running, unconfirmed: unconfirmed, deferred: 0, isServed: true)
            ], routes: [])
        status.conditions = kinds.map {
            HealthCondition($0, .fault, "journal", since: WallTime(seconds: 1), what: "it is bad", next: "mend it")
        }
        return status
    }

    @Test("Each refusal makes it wait longer, up to some seconds, at random, and what is taken ends that")
    func pauses() {
        var room = RoomWait()
        var total = Duration.zero
        for number in 0..<100 {
            let (least, most) = (room, room)
            var (first, last) = (least, most)
            let bounds = (first.refused(random: 0), last.refused(random: 0.999_999))
            #expect(bounds.0 < bounds.1 && bounds.1 <= RoomWait.longest && bounds.0 >= RoomWait.shortest / 2)
            if number >= 10 { #expect(bounds.0 >= RoomWait.longest / 2) }
            total += room.refused(random: 0.5)
        }
        // A service that refuses is asked a hundred times in six minutes, and not in five seconds.
        #expect(total > .seconds(300), "\(total)")
        room.taken()
        #expect(room.refused(random: 0) == RoomWait.shortest / 2)
    }

    @Test("When it is told that what was in the way is over, or a journal at its limit drains, it asks at once")
    func told() {
        for kind in [HealthCondition.Kind.journalFull, .diskRefusing, .databaseAway] {
            var room = RoomWait()
            func looks(_ statuses: DeskStatus?...) -> [Bool] { statuses.map { room.look($0) } }
            _ = room.refused(random: 0)
            let course = looks(nil, status([]), status([kind]), status([kind, .laneStopped]), status([.laneStopped]))
            #expect(course == [false, false, false, false, true], "\(kind)")
            // What was seen before a refusal says nothing of it.
            #expect(looks(status([kind])) == [false])
            _ = room.refused(random: 0)
            #expect(looks(status([])) == [false], "\(kind)")
            // A disk is as full as before, however much was delivered.
            let drained = looks(status([kind], unconfirmed: 9), status([kind], unconfirmed: 8))
            #expect(drained == [kind == .journalFull, kind == .journalFull], "\(kind)")
        }
    }

    @Test("A trouble that comes and goes is told once, and again behind a minute without any")
    func toldTrouble() {
        var told = ToldTrouble()
        let start = ContinuousClock.now
        func isNew(_ trouble: String?, _ seconds: Int) -> Bool { told.isNew(trouble, at: start + .seconds(seconds)) }
        #expect(!isNew(nil, 0) && isNew("full", 1) && !isNew("full", 2) && !isNew(nil, 3) && !isNew("full", 4))
        #expect(isNew("away", 5) && isNew("full", 6))
        #expect(!isNew(nil, 10) && !isNew(nil, 60) && isNew("full", 70))
        #expect(!isNew(nil, 71) && !isNew("full", 130))
    }
}
