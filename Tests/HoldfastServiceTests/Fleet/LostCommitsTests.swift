import Holdfast
import HoldfastPostgres
import Testing

@testable import HoldfastService

@Suite("Journals whose host was lost with commits")
struct LostCommitsTests {
    @Test("What may be lost is a fault that says so, of which time, for both guarantees, and what to do")
    func loss() throws {
        let record = FleetRecord()
        let loss = LossWindow(from: WallTime(seconds: 1_764_431_221), to: WallTime(seconds: 1_764_431_232))
        record.take(.inDoubt(journal: "w0", loss))
        let condition = try #require(record.conditions.first)
        #expect(condition.kind == .commitsLost && condition.severity == .fault && condition.subject == "w0")
        for words in [
            "may be LOST", "between about 2025-11-29T15:47:01", "and 2025-11-29T15:47:12", "at-least-once as well as",
            "no outcome is told", "ends as unknown", "may arrive twice",
        ] { #expect(condition.what.contains(words), "\(condition.what)") }
        #expect(condition.next.contains("--apns-id"), "\(condition.next)")
        // What is written back from a copy is no loss.
        record.take(.restored(journal: "w1", from: 4, to: 7))
        #expect(record.conditions.map(\.severity) == [.fault, .warning])
    }

    @Test("Where the lost host's clock says nothing, only the end of the time is told")
    func unknownBeginning() {
        let end = WallTime(seconds: 1_764_431_232)
        #expect(LossWindow(from: nil, to: end).words.hasPrefix("before 2025-11-29T15:47:12"))
        #expect(LossWindow(from: end.advanced(by: .seconds(3600)), to: end).words.hasPrefix("before "))
    }

    @Test("A closed journal whose last commits may be lost is not said to be delivered to the end")
    func closed() {
        let listed = ListedJournal(
            id: 3, name: "w0", host: "w2", sighting: Sighting(epoch: 4, beats: 0, isFree: true), isClosed: true)
        let loss = LossWindow(from: WallTime(seconds: 1_764_431_221), to: WallTime(seconds: 1_764_431_232))
        let (whole, lacking) = (ClosedJournal(listed, seconds: 19), ClosedJournal(listed, seconds: 19, loss: loss))
        #expect(whole.shortWords.contains("19 s ago, delivered to the end"))
        #expect(!lacking.shortWords.contains("delivered to the end"))
        for words in [lacking.shortWords, lacking.words] {
            #expect(words.contains("what its lost host accepted between about 2025-11-29T15:47:01"), "\(words)")
        }
    }
}
