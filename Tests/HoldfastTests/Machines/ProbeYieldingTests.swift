import Testing

@testable import Holdfast

@Suite("Probes of topics that are set aside, while connections are scarce") struct ProbeYieldingTests {
    private func look(hasProbeOut: Bool = false) -> ProbeYielding.Look {
        ProbeYielding.Look(
            isScarce: true, hasProbeOut: hasProbeOut, isToProbe: false, isNothingProven: false, isLeft: false)
    }

    @Test("They wait for connections to be plenty, and a minute at most") func scarce() {
        var yielding = ProbeYielding()
        for second in stride(from: 100, to: 160, by: 10) {
            yielding.look(look(), now: .seconds(second))
            #expect(yielding.yields)
            #expect(yielding.end(plenty: .seconds(1000), now: .seconds(second)) == .seconds(160))
        }
        yielding.look(look(), now: .seconds(160))
        #expect(!yielding.yields)
    }

    @Test("By an operator's word one goes at once, and the next one waits again", arguments: [false, true])
    func hurried(_ waitsAlready: Bool) {
        var yielding = ProbeYielding()
        if waitsAlready { yielding.look(look(), now: .seconds(100)) }
        yielding.hurry(now: .seconds(101))
        yielding.look(look(), now: .seconds(101))
        #expect(!yielding.yields)
        #expect(yielding.end(plenty: .seconds(1000), now: .seconds(101)) == nil)
        yielding.look(look(hasProbeOut: true), now: .seconds(102))
        yielding.look(look(), now: .seconds(103))
        #expect(yielding.yields)
    }
}
