import Testing

@testable import Holdfast

@Suite struct TopicRefusalsTests {
    private let one: UInt32 = 1
    private let other: UInt32 = 2

    /// Refuses a request to a device of the topic.
    private func refuse(
        _ refusals: inout TopicRefusals, _ topic: UInt32, _ turns: [UInt32], devices: UInt64 = 100
    ) -> [TopicRefusals.Finding] {
        turns.map { refusals.refused(topic, device: UInt64($0) % devices + 1, handedOutIn: $0) }
    }

    @Test("Three rounds in which others were taken convict, and a burst is one") func rounds() {
        var refusals = TopicRefusals()
        #expect(refusals.isEmpty)
        for device in 1...16 as ClosedRange<UInt64> {
            #expect(refusals.refused(one, device: device, handedOutIn: 1) == .nothing)
        }
        refusals.taken(other, handedOutIn: 2)
        #expect(refuse(&refusals, one, [3]) == [.nothing])
        // Nothing was taken since.
        #expect(refuse(&refusals, one, [4, 5, 6]) == [.nothing, .nothing, .nothing])
        refusals.taken(other, handedOutIn: 7)
        #expect(refuse(&refusals, one, [8]) == [.convicted(requests: 21)])
        refusals.taken(one, handedOutIn: 9)
        #expect(refusals.isEmpty)
    }

    @Test("What was taken convicts nobody where it went out before what was refused, or with it") func burst() {
        var refusals = TopicRefusals()
        for turn in 1..<50 as Range<UInt32> {
            refusals.taken(other, handedOutIn: 0)
            refusals.taken(other, handedOutIn: 1)
            #expect(refuse(&refusals, one, [turn]) == [.nothing])
        }
    }

    @Test("One device, or two, is not a topic", arguments: [1, 2, 3]) func devices(count: UInt64) {
        var refusals = TopicRefusals()
        var findings: [TopicRefusals.Finding] = []
        for turn in 0..<20 as Range<UInt32> {
            findings += refuse(&refusals, one, [2 * turn], devices: count)
            refusals.taken(other, handedOutIn: 2 * turn + 1)
        }
        #expect(findings.contains { $0 != .nothing } == (count == 3))
    }

    @Test("A topic of which anything is taken is the throttle's") func quota() {
        var refusals = TopicRefusals()
        for turn in 0..<100 as Range<UInt32> {
            #expect(refuse(&refusals, one, [4 * turn, 4 * turn + 2]) == [.nothing, .nothing])
            refusals.taken(other, handedOutIn: 4 * turn + 1)
            refusals.taken(one, handedOutIn: 4 * turn + 3)
        }
    }

    @Test("Where half of the others are refused, three refusals are bad luck and seven are not") func badLuck() {
        var refusals = TopicRefusals()
        var findings: [TopicRefusals.Finding] = []
        for turn in 0..<7 as Range<UInt32> {
            findings += refuse(&refusals, one, [10 * turn])
            _ = refuse(&refusals, other, [10 * turn + 1])
            refusals.taken(other, handedOutIn: 10 * turn + 2)
        }
        #expect(findings.prefix(6).allSatisfy { $0 == .nothing })
        #expect(findings.last == .convicted(requests: 7))
    }

    @Test("Others go first from the second try on, once, until the topic is taken") func trial() {
        var refusals = TopicRefusals()
        _ = refuse(&refusals, one, [1, 1, 1])
        #expect(!refusals.letsOthersGo)
        _ = refuse(&refusals, one, [2])
        #expect(refusals.letsOthersGo && refusals.letOthersGo() == [one])
        #expect(!refusals.letsOthersGo)
        _ = refuse(&refusals, other, [3, 4])
        #expect(refusals.letsOthersGo && refusals.letOthersGo() == [one, other])
    }

    @Test("Where more than three topics are refused alike it is the service, until anything is taken") func service() {
        var refusals = TopicRefusals()
        for topic in 1...3 as ClosedRange<UInt32> {
            #expect(refuse(&refusals, topic, [2 * topic, 2 * topic + 1]) == [.nothing, .nothing])
            _ = refusals.letOthersGo()
        }
        #expect(refuse(&refusals, 4, [10]) == [.acquitted([1, 2, 3])])
        #expect(refuse(&refusals, 5, [11, 12]) == [.nothing, .nothing])
        #expect(!refusals.letsOthersGo)
        refusals.taken(6, handedOutIn: 13)
        #expect(refusals.letsOthersGo)
    }

    @Test("A turn's number may begin anew") func wrap() {
        #expect(UInt32.min.isTurn(after: .max) && !UInt32.max.isTurn(after: .min) && !UInt32(5).isTurn(after: 5))
    }
}
