import Testing

@testable import Holdfast

@Suite struct LastingStateTests {
    private func moment(_ second: Int64) -> Moment {
        Moment(monotonic: .seconds(second), wall: WallTime(seconds: 1000 + second))
    }

    @Test("It is told after five seconds, short interruptions included, and over ten seconds after it was so last")
    func lasting() {
        var state = LastingState()
        state.look(false) { moment(0) }
        #expect(state.nextLook == nil)
        state.look(true) { moment(1) }
        #expect(!state.isTold && state.nextLook == .seconds(6))
        state.look(false) { moment(2) }
        #expect(state.nextLook == .seconds(12))
        state.look(true) { moment(6) }
        #expect(state.isTold && state.nextLook == nil && state.since == moment(1))
        // So long nothing has looked.
        state.look(false) { moment(70) }
        #expect(state.isTold && state.nextLook == .seconds(80))
        state.look(false) { moment(80) }
        #expect(!state.isTold && state.since == nil && state.nextLook == nil)
    }

    @Test("What is over before it is told is forgotten") func short() {
        var state = LastingState()
        state.look(true) { moment(1) }
        state.look(false) { moment(3) }
        state.look(false) { moment(7) }
        #expect(!state.isTold && state.nextLook == .seconds(13))
        state.look(false) { moment(13) }
        #expect(!state.isTold && state.nextLook == nil)
        state.look(true) { moment(14) }
        #expect(state.since == moment(14))
    }
}
