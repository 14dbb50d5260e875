import Holdfast
import HoldfastPostgres
import Testing

@Suite("Owners that are not heard of")
struct OwnerSilenceTests {
    private func journal(_ id: Int32, beats: Int64, epoch: Int64 = 1, isFree: Bool = false) -> ListedJournal {
        ListedJournal(
            id: id, name: "web-\(id)", host: "web-\(id)",
            sighting: Sighting(epoch: epoch, beats: beats, isFree: isFree), isClosed: false)
    }

    @Test("An owner is silent when it has not renewed its lease for five seconds of looks, and no more when it does")
    func silent() {
        var silence = OwnerSilence()
        silence.looked([journal(1, beats: 7), journal(2, beats: 7)], at: .seconds(100))
        silence.looked([journal(1, beats: 8), journal(2, beats: 7)], at: .seconds(102))
        silence.looked([journal(1, beats: 8), journal(2, beats: 7)], at: .seconds(104))
        #expect(silence.silence(of: 1) == nil && silence.silence(of: 2) == nil)
        silence.looked([journal(1, beats: 9), journal(2, beats: 7)], at: .seconds(106))
        #expect(silence.silence(of: 1) == nil && silence.silence(of: 2) == .seconds(6))
        silence.looked([journal(1, beats: 10), journal(2, beats: 8)], at: .seconds(108))
        #expect(silence.silence(of: 2) == nil)
    }

    @Test("Another owner, and none, are not silent")
    func others() {
        var silence = OwnerSilence()
        for second in [0, 3, 6] {
            silence.looked([journal(1, beats: 7), journal(2, beats: 7), journal(3, beats: 7)], at: .seconds(second))
        }
        silence.looked([journal(1, beats: 0, epoch: 2), journal(2, beats: 7, isFree: true)], at: .seconds(8))
        #expect((1...3).allSatisfy { silence.silence(of: $0) == nil })
        // Whoever has the journal again is heard of from then on.
        silence.looked([journal(3, beats: 7)], at: .seconds(10))
        #expect(silence.silence(of: 3) == nil)
    }

    @Test("A time in which nobody looked says nothing of the owners")
    func unseen() {
        var silence = OwnerSilence()
        silence.looked([journal(1, beats: 7)], at: .seconds(0))
        silence.looked([journal(1, beats: 8)], at: .seconds(2))
        silence.looked([journal(1, beats: 8)], at: .seconds(3600))
        #expect(silence.silence(of: 1) == nil)
        silence.looked([journal(1, beats: 8)], at: .seconds(3602))
        #expect(silence.silence(of: 1) == .seconds(5))
        silence.looked([journal(1, beats: 9)], at: .seconds(3604))
        #expect(silence.silence(of: 1) == nil)
    }
}
