import Testing

@testable import Holdfast

@Suite struct TopicRefusalsTests {
    private let one: UInt32 = 1
    private let other: UInt32 = 2

    /// Refuses a request to a device of the topic.
    private func refuse(
        _ refusals: inout TopicRefusals, _ topic: UInt32, _ turns: [UInt32], devices: UInt64 = 100
    ) -> [Int?] {
        turns.map { refusals.refused(topic, device: UInt64($0) % devices + 1, handedOutIn: $0) }
    }

    @Test("Three rounds in which others were taken convict, and a burst is one") func rounds() {
        var refusals = TopicRefusals()
        #expect(refusals.isEmpty)
        for device in 1...16 as ClosedRange<UInt64> {
            #expect(refusals.refused(one, device: device, handedOutIn: 1) == nil)
        }
        refusals.taken(other, handedOutIn: 2)
        #expect(refuse(&refusals, one, [3]) == [nil])
        // Nothing was taken since.
        #expect(refuse(&refusals, one, [4, 5, 6]) == [nil, nil, nil])
        refusals.taken(other, handedOutIn: 7)
        #expect(refuse(&refusals, one, [8]) == [21])
        refusals.taken(one, handedOutIn: 9)
        #expect(refusals.isEmpty)
    }

    @Test("What was taken convicts nobody where it went out before what was refused, or with it") func burst() {
        var refusals = TopicRefusals()
        for turn in 1..<50 as Range<UInt32> {
            refusals.taken(other, handedOutIn: 0)
            refusals.taken(other, handedOutIn: 1)
            #expect(refuse(&refusals, one, [turn]) == [nil])
        }
    }

    @Test("One device, or two, is not a topic", arguments: [1, 2, 3]) func devices(count: UInt64) {
        var refusals = TopicRefusals()
        var findings: [Int?] = []
        for turn in 0..<20 as Range<UInt32> {
            findings += refuse(&refusals, one, [2 * turn], devices: count)
            refusals.taken(other, handedOutIn: 2 * turn + 1)
        }
        #expect(findings.contains { $0 != nil } == (count == 3))
    }

    @Test("A topic of which anything is taken is the throttle's") func quota() {
        var refusals = TopicRefusals()
        for turn in 0..<100 as Range<UInt32> {
            #expect(refuse(&refusals, one, [4 * turn, 4 * turn + 2]) == [nil, nil])
            refusals.taken(other, handedOutIn: 4 * turn + 1)
            refusals.taken(one, handedOutIn: 4 * turn + 3)
        }
    }

    @Test("Where half of the others are refused, three refusals are bad luck and seven are not") func badLuck() {
        var refusals = TopicRefusals()
        var findings: [Int?] = []
        for turn in 0..<7 as Range<UInt32> {
            findings += refuse(&refusals, one, [10 * turn])
            _ = refuse(&refusals, other, [10 * turn + 1])
            refusals.taken(other, handedOutIn: 10 * turn + 2)
        }
        #expect(findings.prefix(6).allSatisfy { $0 == nil })
        #expect(findings.last == 7)
    }

    @Test("Others go first from the second try on, and of further topics from the first") func trial() {
        var refusals = TopicRefusals()
        _ = refuse(&refusals, one, [1, 1, 1])
        #expect(!refusals.letsOthersGo(tries: 2) && refusals.letsOthersGo(tries: 1))
        _ = refuse(&refusals, one, [2])
        #expect(refusals.letsOthersGo(tries: 2) && refusals.letOthersGo() == [one])
        #expect(!refusals.letsOthersGo(tries: 1))
        for topic in 2...20 as ClosedRange<UInt32> {
            _ = refuse(&refusals, topic, [topic + 1])
            #expect(refusals.letsOthersGo(tries: 2) && refusals.letOthersGo() == Array(1...topic))
        }
    }

    @Test("Another topic is tried as soon as the one before, as long as they are few") func hurried() {
        var refusals = TopicRefusals()
        _ = refuse(&refusals, one, [1])
        #expect(!refusals.isHurried(one))
        for topic in 2...10 as ClosedRange<UInt32> {
            _ = refuse(&refusals, topic, [topic])
            #expect(refusals.isHurried(topic))
            _ = refuse(&refusals, topic, [topic + 20])
            #expect(!refusals.isHurried(topic))
        }
        _ = refuse(&refusals, 11, [50])
        #expect(!refusals.isHurried(11))
    }

    @Test("A turn's number may begin anew") func wrap() {
        #expect(UInt32.min.isTurn(after: .max) && !UInt32.max.isTurn(after: .min) && !UInt32(5).isTurn(after: 5))
    }

    @Test("What was taken late counts, although the topic was refused again before it was") func lateWitness() {
        var refusals = TopicRefusals()
        #expect(refusals.refused(1, device: 1, handedOutIn: 1) == nil)
        #expect(refusals.refused(1, device: 2, handedOutIn: 3) == nil)
        refusals.taken(2, handedOutIn: 2)
        #expect(refusals.refused(1, device: 3, handedOutIn: 4) == nil)
        #expect(refusals.refused(1, device: 4, handedOutIn: 6) == nil)
        refusals.taken(2, handedOutIn: 5)
        #expect(refusals.refused(1, device: 5, handedOutIn: 7) == 5)
    }
}
