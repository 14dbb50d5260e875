import Testing

@testable import Holdfast

@Suite struct QuietlyConfirmedTests {
    private let refused = PayloadError.Kind.refused(SendResult(.rejected(.token)))

    /// The runs of a window in which these were handed out, confirmed as one.
    private func runs(_ uids: some Sequence<UInt64>) -> [CumulativeWindow.Run] {
        var window = CumulativeWindow()
        for uid in uids {
            _ = window.handOut(
                SentWindow.Flight(
                    lane: 0, uid: UID(uid), attempts: 0, possiblySentBefore: false, hasOneAttempt: false,
                    acceptedAt: WallTime(seconds: 0)))
        }
        return window.confirm(through: .max)
    }

    private func note(
        _ memory: inout QuietlyConfirmed, _ uids: some Sequence<UInt64>, from position: UInt64, at second: Int = 0,
        limit: Int = 1000
    ) {
        memory.note(
            runs(uids), from: position, now: .seconds(second), period: .seconds(600), limit: limit)
    }

    private func deny(
        _ memory: inout QuietlyConfirmed, _ position: UInt64, _ kind: PayloadError.Kind
    ) -> (named: UInt64?, later: [UInt64]) {
        let denied = memory.deny(PayloadError(position: .position(position), kind: kind))
        return (denied.named?.uid.rawValue, denied.later.flatMap { Array($0.uids) })
    }

    @Test("By position, not by UID: what lies behind the named one is denied, in the order of sending") func positions()
    {
        var memory = QuietlyConfirmed()
        note(&memory, [10, 11, 50], from: 1)
        note(&memory, [7, 8], from: 4)
        let denied = deny(&memory, 2, refused)
        #expect(denied.named == 11)
        #expect(denied.later == [50, 7, 8])
        #expect(memory.count == 0)
    }

    @Test("The last good one is not denied") func lastGood() {
        var memory = QuietlyConfirmed()
        note(&memory, 1...5, from: 1)
        let denied = deny(&memory, 3, .lastGood)
        #expect(denied.named == nil)
        #expect(denied.later == [4, 5])
    }

    @Test("One that is not remembered is not named, and what is remembered behind it is denied") func forgottenName() {
        var memory = QuietlyConfirmed()
        note(&memory, 1...3, from: 1)
        note(&memory, 8...9, from: 8, at: 700)
        let denied = deny(&memory, 2, refused)
        #expect(denied.named == nil)
        #expect(denied.later == [8, 9])
    }

    @Test("What is older than the period is forgotten") func age() {
        var memory = QuietlyConfirmed()
        note(&memory, 1...3, from: 1)
        note(&memory, 4...6, from: 4, at: 300)
        memory.forget(before: .seconds(1))
        #expect(memory.count == 3)
        memory.forget(before: .seconds(300))
        #expect(memory.count == 3)
        memory.forget(before: .seconds(301))
        #expect(memory.count == 0)
    }

    @Test("Beyond the limit the oldest are forgotten") func limit() {
        var memory = QuietlyConfirmed()
        note(&memory, 1...6, from: 1, limit: 8)
        note(&memory, 20...23, from: 7, limit: 8)
        #expect(memory.count == 8)
        let denied = deny(&memory, 1, refused)
        #expect(denied.named == nil)
        #expect(denied.later == [3, 4, 5, 6, 20, 21, 22, 23])
    }

    @Test("A million neighbours that become quiet over the period take a few dozen pieces") func memory() {
        var memory = QuietlyConfirmed()
        for step in 0..<1000 as Range<UInt64> {
            let first = step * 1000 + 1
            memory.note(
                runs(first..<first + 1000), from: first, now: .milliseconds(Int(step) * 600), period: .seconds(600),
                limit: 2_000_000)
        }
        #expect(memory.count == 1_000_000)
        #expect(memory.pieceCount <= 65)
    }
}
