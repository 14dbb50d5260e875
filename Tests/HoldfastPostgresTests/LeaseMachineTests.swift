import Holdfast
import Testing

@Suite("The machines of leases")
struct LeaseMachineTests {
    private let times = LeaseTimes()

    @Test("The times are those that are documented, unless others are given")
    func standard() {
        #expect(times.beat == .seconds(2) && times.hold == .seconds(5) && times.takeAfter == .seconds(10))
    }

    @Test("An owner hands out until five seconds after the sending of the last beat that was answered")
    func countsFromSending() {
        var lease = LeaseMachine(takenBySending: .seconds(100), times)
        #expect(lease.handOutUntil == .seconds(105))
        #expect(lease.nextBeat == .seconds(102))
        lease.beatSent(at: .seconds(102))
        #expect(lease.handOutUntil == .seconds(105))
        lease.beatAnswered(at: .seconds(104))
        #expect(lease.handOutUntil == .seconds(107))
        #expect(lease.nextBeat == .seconds(104))
    }

    @Test("A beat that failed or is in doubt proves nothing, and is tried again soon")
    func failed() {
        var lease = LeaseMachine(takenBySending: .seconds(0), times)
        lease.beatSent(at: .seconds(2))
        lease.beatFailed(at: .seconds(3))
        lease.beatAnswered(at: .seconds(4))
        #expect(lease.handOutUntil == .seconds(5))
        #expect(lease.nextBeat == .milliseconds(3250))
    }

    @Test("An answer behind the end makes the owner hand out again, since nobody has taken the journal")
    func lateAnswer() {
        var lease = LeaseMachine(takenBySending: .seconds(0), times)
        lease.beatSent(at: .seconds(60))
        lease.beatAnswered(at: .seconds(61))
        #expect(lease.handOutUntil == .seconds(65))
    }

    @Test("An ownership that has ended never comes back")
    func ended() {
        var lease = LeaseMachine(takenBySending: .seconds(0), times)
        lease.beatSent(at: .seconds(2))
        lease.endOwnership()
        lease.beatAnswered(at: .seconds(3))
        #expect(lease.handOutUntil == nil)
    }

    @Test("A taker takes what has not changed for ten seconds since the first look was answered")
    func standsStill() {
        var taker = TakerMachine(times)
        let seen = Sighting(epoch: 4, beats: 9, isFree: false)
        taker.looked(seen, at: .seconds(50))
        taker.looked(seen, at: .milliseconds(59_900))
        #expect(taker.sightingToTake(at: .milliseconds(59_900)) == nil)
        #expect(taker.nextLook(at: .milliseconds(59_900)) == .seconds(60))
        #expect(taker.sightingToTake(at: .seconds(60)) == seen)
        #expect(taker.nextLook(at: .seconds(60)) == .seconds(62))
    }

    @Test("A beat, another owner, and the end of the session each begin the waiting anew")
    func anew() {
        var taker = TakerMachine(times)
        taker.looked(Sighting(epoch: 4, beats: 9, isFree: false), at: .seconds(0))
        taker.looked(Sighting(epoch: 4, beats: 10, isFree: false), at: .seconds(9))
        #expect(taker.sightingToTake(at: .seconds(18)) == nil)
        taker.looked(Sighting(epoch: 5, beats: 10, isFree: false), at: .seconds(18))
        #expect(taker.sightingToTake(at: .seconds(27)) == nil)
        taker.sessionEnded()
        #expect(taker.sightingToTake(at: .seconds(40)) == nil)
        taker.looked(Sighting(epoch: 5, beats: 10, isFree: false), at: .seconds(40))
        #expect(taker.sightingToTake(at: .seconds(49)) == nil)
        #expect(taker.sightingToTake(at: .seconds(50)) != nil)
    }

    @Test("What is free is taken at once")
    func free() {
        var taker = TakerMachine(times)
        taker.looked(Sighting(epoch: 2, beats: 0, isFree: true), at: .seconds(0))
        #expect(taker.sightingToTake(at: .seconds(0)) != nil)
    }
}
