import Testing

@testable import Holdfast

@Suite struct CumulativeWindowTests {
    private func flight(
        _ uid: UInt64, lane: Int = 0, attempts: UInt16 = 0, possiblySentBefore: Bool = false,
        hasOneAttempt: Bool = false
    ) -> SentWindow.Flight {
        SentWindow.Flight(
            lane: lane, uid: UID(uid), attempts: attempts, possiblySentBefore: possiblySentBefore,
            hasOneAttempt: hasOneAttempt, acceptedAt: WallTime(seconds: 0))
    }

    private func window(_ uids: [UInt64]) -> CumulativeWindow {
        var window = CumulativeWindow()
        for uid in uids { _ = window.handOut(flight(uid)) }
        return window
    }

    private func uids(_ runs: [CumulativeWindow.Run]) -> [UInt64] { runs.flatMap { Array($0.uids) } }

    private let refused = PayloadError.Kind.refused(SendResult(.rejected(.token)))

    @Test("Positions count from 1 in the order of sending, whatever the UIDs") func positions() {
        var window = CumulativeWindow()
        #expect([7, 50, 8].map { window.handOut(flight($0)) } == [.position(1), .position(2), .position(3)])
    }

    @Test("An error takes what is earlier by position, names one, and discards what is later") func within() {
        var window = window([10, 11, 50, 7, 8])
        guard
            case .within(let taken, let named, let later) = window.conclude(
                PayloadError(position: .position(3), kind: refused))
        else {
            Issue.record("expected an error within the window")
            return
        }
        #expect(uids(taken) == [10, 11])
        #expect(named?.uid == UID(50))
        // UID 7 went out after 50: it is later, and goes again.
        #expect(uids(later) == [7, 8])
        #expect(window.unconfirmed == 0)
        #expect(window.count == 2)
        window.settled(2)
        #expect(window.count == 0)
    }

    @Test("The last good one is taken, not refused") func lastGood() {
        var window = window([1, 2, 3])
        let conclusion = window.conclude(PayloadError(position: .position(2), kind: .lastGood))
        guard case .within(let taken, nil, let later) = conclusion else {
            Issue.record("expected an error within the window, and not \(conclusion)")
            return
        }
        #expect(uids(taken) == [1, 2])
        #expect(uids(later) == [3])
    }

    @Test("An error for what was confirmed before discards the whole window and says how many were called confirmed")
    func late() {
        var window = window([1, 2, 3, 4, 5])
        _ = window.confirm(through: 3)
        guard
            case .late(let all, let before) = window.conclude(PayloadError(position: .position(2), kind: refused))
        else {
            Issue.record("expected a late error")
            return
        }
        #expect(uids(all) == [4, 5])
        // 2 itself and 3.
        #expect(before == 2)
    }

    @Test("A last good one that was confirmed before takes back only what is behind it") func lateLastGood() {
        var window = window([1, 2, 3, 4])
        _ = window.confirm(through: 3)
        let conclusion = window.conclude(PayloadError(position: .position(2), kind: .lastGood))
        guard case .late(let all, 1) = conclusion else {
            Issue.record("expected one wrongly confirmed, and not \(conclusion)")
            return
        }
        #expect(uids(all) == [4])
    }

    @Test("A position that was never issued proves nothing about any", arguments: [0, 4, 5, UInt64.max])
    func neverIssued(_ position: UInt64) {
        var window = window([1, 2, 3])
        let conclusion = window.conclude(PayloadError(position: .position(position), kind: refused))
        guard case .impossible(let all) = conclusion else {
            Issue.record("expected an impossible error, and not \(conclusion)")
            return
        }
        #expect(uids(all) == [1, 2, 3])
        #expect(window.unconfirmed == 0)
    }

    @Test("At the end everything is possibly sent, but for what is behind the last that may have left") func end() {
        var window = window([1, 2, 3])
        let (sent, never) = window.end(possiblySentThrough: .position(1))
        #expect(uids(sent) == [1])
        #expect(uids(never) == [2, 3])
        var other = self.window([1, 2, 3])
        #expect(uids(other.end(possiblySentThrough: nil).possiblySent) == [1, 2, 3])
        var third = self.window([1, 2, 3])
        #expect(uids(third.end(possiblySentThrough: .position(0)).neverSent) == [1, 2, 3])
    }

    @Test("A million consecutive entries take one run, and nothing is ever evicted") func million() {
        var window = CumulativeWindow()
        for uid in 1...1_000_000 as ClosedRange<UInt64> { _ = window.handOut(flight(uid)) }
        #expect(window.runCount == 1)
        #expect(window.count == 1_000_000)
        #expect(window.confirm(through: 999_999).map(\.count) == [999_999])
        #expect(window.runCount == 1)
        #expect(window.unconfirmed == 1)
    }

    @Test("Entries that differ in what matters are not one run") func apart() {
        var window = CumulativeWindow()
        for flight in [
            flight(1), flight(2, attempts: 1), flight(3, attempts: 1, possiblySentBefore: true), flight(4, lane: 1),
            flight(5, lane: 1, hasOneAttempt: true), flight(7, lane: 1, hasOneAttempt: true),
        ] { _ = window.handOut(flight) }
        #expect(window.runCount == 6)
        let back = window.confirm(through: 6).flatMap(\.flights)
        #expect(back.map(\.uid.rawValue) == [1, 2, 3, 4, 5, 7])
        #expect(back.map(\.attempts) == [0, 1, 1, 0, 0, 0])
        #expect(back.map(\.possiblySentBefore) == [false, false, true, false, false, false])
        #expect(back.map(\.hasOneAttempt) == [false, false, false, false, true, true])
    }

    @Test("Random operations agree with an array of positions", arguments: 0..<100 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        var window = CumulativeWindow()
        // Index 0 is position 1.
        var model: [UInt64] = []
        var confirmed = 0
        var settling = 0
        var next: UInt64 = 1
        for _ in 1...400 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<12:
                next += Int.random(in: 0..<5, using: &random) == 0 ? 3 : 1
                let uid = Int.random(in: 0..<10, using: &random) == 0 && !model.isEmpty ? model[0] : next
                model.append(uid)
                #expect(window.handOut(flight(uid)) == .position(UInt64(model.count)), "seed \(seed)")
            case 12..<15:
                let through = Int.random(in: 0...model.count, using: &random)
                let taken = uids(window.confirm(through: UInt64(through)))
                #expect(taken == Array(model[confirmed..<max(confirmed, through)]), "seed \(seed)")
                settling += taken.count
                confirmed = max(confirmed, through)
            case 15..<18:
                let some = Int.random(in: 0...5, using: &random)
                window.settled(some)
                settling -= min(some, settling)
            case 18:
                let position = Int.random(in: 1...(model.count + 2), using: &random)
                let isLastGood = Bool.random(using: &random)
                let conclusion = window.conclude(
                    PayloadError(position: .position(UInt64(position)), kind: isLastGood ? .lastGood : refused))
                let rest = Array(model[confirmed...])
                switch conclusion {
                case .impossible(let all):
                    #expect(position > model.count, "seed \(seed)")
                    #expect(uids(all) == rest, "seed \(seed)")
                case .late(let all, let before):
                    #expect(position <= confirmed, "seed \(seed)")
                    #expect(uids(all) == rest, "seed \(seed)")
                    #expect(before == confirmed - position + (isLastGood ? 0 : 1), "seed \(seed)")
                case .within(let taken, let named, let later):
                    let end = isLastGood ? position : position - 1
                    #expect(uids(taken) == Array(model[confirmed..<end]), "seed \(seed)")
                    #expect(named?.uid.rawValue == (isLastGood ? nil : model[position - 1]), "seed \(seed)")
                    #expect(uids(later) == Array(model[position...]), "seed \(seed)")
                    settling += taken.reduce(0) { $0 + $1.count }
                }
                confirmed = model.count
            default:
                let through = Bool.random(using: &random) ? Int.random(in: 0...(model.count + 1), using: &random) : nil
                let (sent, never) = window.end(possiblySentThrough: through.map { .position(UInt64($0)) })
                let end = max(confirmed, min(through ?? model.count, model.count))
                #expect(uids(sent) == Array(model[confirmed..<end]), "seed \(seed)")
                #expect(uids(never) == Array(model[end...]), "seed \(seed)")
                confirmed = model.count
            }
            #expect(window.unconfirmed == model.count - confirmed, "seed \(seed)")
            #expect(window.count == model.count - confirmed + settling, "seed \(seed)")
        }
    }
}
