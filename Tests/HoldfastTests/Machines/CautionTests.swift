import Testing

@testable import Holdfast

@Suite struct CautionTests {
    private func key(_ uid: UInt64, lane: UInt32 = 1) -> EntryKey {
        EntryKey(lane: LaneID(rawValue: lane), uid: UID(uid))
    }

    private func left(_ uids: ClosedRange<UInt64>, lane: UInt32 = 1) -> Caution.Leftover {
        var left = Caution.Leftover(key(uids.lowerBound, lane: lane))
        left.add(key(uids.lowerBound, lane: lane), through: UID(uids.upperBound))
        return left
    }

    @discardableResult
    private func end(_ caution: inout Caution, _ uids: ClosedRange<UInt64>, alone: Bool = false)
        -> Caution.Finding
    {
        caution.ended(left(uids), wasAlone: alone)
    }

    private func answer(_ caution: inout Caution, _ count: Int = 1) { caution.answered(count) { _ in false } }

    /// A route that sends one entry at a time, since connections ended with the first of these unanswered.
    private func careful(_ uids: ClosedRange<UInt64> = 1...8) -> Caution {
        var caution = Caution()
        for _ in 0..<Caution.greatestEnds { end(&caution, uids) }
        return caution
    }

    @Test("Three connections that leave the same entry behind make careful") func three() {
        var caution = Caution()
        #expect(end(&caution, 1...100) == .nothing)
        #expect(end(&caution, 1...50) == .nothing)
        #expect(caution.allowance(inFlight: 10_000) == .max)
        #expect(end(&caution, 1...100) == .careful(key(1), ends: 3))
        #expect(caution.allowance(inFlight: 0) == 1)
        #expect(caution.allowance(inFlight: 1) == 0)
    }

    @Test("Ends between which all that was left behind is answered are no reason") func progress() {
        var caution = Caution()
        for uid in 1..<50 as Range<UInt64> {
            #expect(end(&caution, uid * 10...uid * 10 + 19) == .nothing)
        }
        #expect(!caution.isCareful)
    }

    @Test("Where each connection answers the first, what all of them leave behind makes careful") func slow() {
        var caution = Caution()
        #expect(end(&caution, 1...100) == .nothing)
        #expect(end(&caution, 2...60) == .nothing)
        #expect(end(&caution, 3...100) == .careful(key(3), ends: 3))
    }

    @Test("What is left behind in another lane is something else") func lanes() {
        var caution = Caution()
        for lane in 1...9 as ClosedRange<UInt32> {
            #expect(caution.ended(left(1...100, lane: lane), wasAlone: false) == .nothing)
        }
    }

    @Test("Something must be common to all of three, not to each and the next") func common() {
        var caution = Caution()
        for uid in 1..<50 as Range<UInt64> {
            #expect(end(&caution, uid * 10...uid * 10 + 19) == .nothing)
        }
    }

    @Test("A million neighbours take as much memory as one, and the first thousand of scattered entries are remembered")
    func memory() {
        var neighbours = left(1...1000)
        for uid in 1001...1_000_000 as ClosedRange<UInt64> { neighbours.add(key(uid), through: UID(uid)) }
        #expect(neighbours.count == 1_000_000)
        #expect(neighbours.entries.rangeCount == 1)
        var scattered = left(1...1)
        for uid in 2...4000 as ClosedRange<UInt64> { scattered.add(key(uid * 2), through: UID(uid * 2)) }
        var caution = Caution()
        for _ in 0..<2 { _ = caution.ended(scattered, wasAlone: false) }
        #expect(caution.rangeCount == 2 * 1000)
        #expect(caution.ended(scattered, wasAlone: false) == .careful(key(1), ends: 3))
        var apart = Caution()
        for lane in 1...100 as ClosedRange<UInt32> {
            var left = left(1...1, lane: lane)
            for uid in 2...2000 as ClosedRange<UInt64> { left.add(key(uid * 2, lane: lane), through: UID(uid * 2)) }
            _ = apart.ended(left, wasAlone: false)
        }
        #expect(apart.rangeCount == Caution.greatestRecent * 1000)
    }

    @Test("What the first entry's connection did not have is neither an end more nor a new beginning") func elsewhere()
    {
        var caution = Caution()
        end(&caution, 1...4)
        end(&caution, 1...4)
        end(&caution, 7...9)
        #expect(!caution.isCareful)
        end(&caution, 1...4)
        #expect(caution.isCareful)
    }

    @Test("One that ends three connections in a row is looked for while another waits for its next one") func another()
    {
        var caution = Caution()
        end(&caution, 1...1, alone: true)
        end(&caution, 8...8)
        end(&caution, 8...8, alone: true)
        #expect(end(&caution, 8...8, alone: true) == .careful(key(8), ends: 3))
        #expect(caution.passedOver == [key(8)])
    }

    @Test("Where each of several connections has one that ends it, and answers others in between, one is found soon")
    func parallel() {
        for count in 2...5 as ClosedRange<UInt64> {
            var caution = Caution()
            var findings: [Caution.Finding] = []
            var next: UInt64 = 100
            while findings.count < 3 * count, !caution.isCareful {
                let ender = UInt64(findings.count) % count + 1
                var left = left(ender...ender)
                left.add(key(next), through: UID(next + 9))
                next += 10
                // All but those that end connections are answered before the next one ends.
                findings.append(caution.ended(left, wasAlone: false))
            }
            #expect(findings.last == .careful(key(1), ends: 3))
            #expect(findings.count == 2 * Int(count) + 1)
        }
    }

    @Test("After an end, as many answers as were left behind widen nothing: the next end leaves half of them")
    func owed() {
        var caution = careful(1...64)
        end(&caution, 1...64)
        #expect(caution.allowance(inFlight: 0) == 32)
        answer(&caution, 64)
        #expect(caution.allowance(inFlight: 0) == 32)
        answer(&caution, 32)
        #expect(caution.allowance(inFlight: 0) == 64)
    }

    @Test("Answers double what goes, until as many go as were left behind") func widens() {
        var caution = careful(1...8)
        for expected in [2, 4, 8] {
            answer(&caution, caution.allowance(inFlight: 0))
            #expect(caution.allowance(inFlight: 0) == expected)
        }
        answer(&caution, 8)
        #expect(!caution.isCareful)
    }

    @Test("Ends halve what was left behind, until one is left, which is accused") func halves() {
        var caution = careful(1...8)
        end(&caution, 1...8)
        #expect(caution.allowance(inFlight: 0) == 4)
        end(&caution, 1...4)
        #expect(caution.allowance(inFlight: 0) == 2)
        end(&caution, 1...2)
        #expect(caution.passedOver.isEmpty)
        end(&caution, 1...1)
        #expect(caution.passedOver == [key(1)])
        #expect(caution.treatment(of: key(1), othersWait: true) == .waits)
        #expect(caution.treatment(of: key(1), othersWait: false) == .goes)
    }

    @Test("The accused has its trial only when another was answered, and is guilty if that ends as well") func trial() {
        var caution = careful()
        end(&caution, 1...1, alone: true)
        #expect(caution.trials(othersWait: true).isEmpty)
        // Without a witness nothing follows.
        end(&caution, 1...1, alone: true)
        #expect(caution.treatment(of: key(1), othersWait: false) == .goes)
        answer(&caution)
        #expect(caution.trials(othersWait: true) == [key(1)])
        caution.handedOut(key(1))
        #expect(caution.isTrying)
        end(&caution, 1...1, alone: true)
        #expect(!caution.isTrying)
        #expect(caution.treatment(of: key(1), othersWait: true) == .isPutAside(ends: 3, counts: true))
    }

    @Test("One that was not alone on its connection is not guilty") func company() {
        var caution = careful()
        end(&caution, 1...1, alone: true)
        answer(&caution)
        end(&caution, 1...1, alone: false)
        #expect(caution.treatment(of: key(1), othersWait: true) == .waits)
    }

    @Test("The accused that is answered is free") func acquitted() {
        var caution = careful()
        end(&caution, 1...1, alone: true)
        answer(&caution)
        caution.handedOut(key(1))
        answer(&caution)
        #expect(!caution.hasSuspects)
    }

    @Test("Where each that is tried ends its connection, nobody is accused, and more are tried next time") func dead() {
        var caution = careful(1...100)
        var greatest: [Int] = []
        for _ in 0..<3 {
            var most = 0
            for uid in 1..<100 as Range<UInt64> {
                end(&caution, uid...uid, alone: true)
                if caution.passedOver.isEmpty { break }
                most = caution.passedOver.count
            }
            greatest.append(most)
        }
        #expect(greatest == [3, 6, 12])
        #expect(caution.allowance(inFlight: 0) == 1)
    }

    @Test("One that was put aside has another trial when it is back, and an attempt more if it needs it") func again() {
        var caution = careful(1...2)
        end(&caution, 1...1, alone: true)
        answer(&caution)
        end(&caution, 1...1, alone: true)
        caution.putAside(key(1))
        answer(&caution, 4)
        #expect(!caution.isCareful)
        #expect(caution.trials(othersWait: true).isEmpty)
        caution.returned([key(1), key(2)])
        #expect(caution.trials(othersWait: true) == [key(1)])
        end(&caution, 1...1, alone: true)
        #expect(caution.treatment(of: key(1), othersWait: true) == .isPutAside(ends: 3, counts: true))
        #expect(!caution.isCareful)
    }

    @Test("A trial that ends when nothing was answered since the last one proves nothing") func noWitness() {
        var caution = careful(1...2)
        end(&caution, 1...1, alone: true)
        answer(&caution, 4)
        end(&caution, 1...1, alone: true)
        caution.putAside(key(1))
        caution.returned([key(1)])
        #expect(caution.trials(othersWait: true).isEmpty)
        #expect(caution.treatment(of: key(1), othersWait: true) == .waits)
        #expect(caution.trials(othersWait: false) == [key(1)])
        end(&caution, 1...1, alone: true)
        #expect(caution.treatment(of: key(1), othersWait: true) == .isPutAside(ends: 3, counts: false))
    }

    @Test("Twice as many others are answered before each trial as before the last one, up to a thousand") func rarer() {
        var caution = careful(1...2)
        end(&caution, 1...1, alone: true)
        var counts: [Int] = []
        for _ in 0..<14 {
            var count = 0
            while caution.trials(othersWait: true).isEmpty {
                #expect(caution.passedOver == [key(1)])
                answer(&caution)
                count += 1
            }
            counts.append(count)
            end(&caution, 1...1, alone: true)
            caution.putAside(key(1))
            caution.returned([key(1)])
        }
        #expect(counts == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000])
    }

    @Test("Those answered while it was put aside count, and an end of another connection takes none away")
    func countsOn() {
        var caution = careful(1...2)
        end(&caution, 1...1, alone: true)
        for _ in 0..<4 {
            answer(&caution, 1000)
            end(&caution, 1...1, alone: true)
            caution.putAside(key(1))
        }
        answer(&caution, 15)
        caution.returned([key(1)])
        #expect(caution.trials(othersWait: true).isEmpty)
        #expect(caution.trials(othersWait: false) == [key(1)])
        end(&caution, 5...9)
        answer(&caution)
        #expect(caution.trials(othersWait: true) == [key(1)])
    }

    @Test("What was settled in another way is forgotten") func forgotten() {
        var caution = careful()
        end(&caution, 1...1, alone: true)
        caution.look(isOut: { _ in false }, isWaiting: { _ in true })
        #expect(caution.hasSuspects)
        caution.look(isOut: { _ in false }, isWaiting: { _ in false })
        #expect(!caution.hasSuspects)
    }
}
