import Foundation
import Holdfast
import HoldfastPostgres
import Testing

@testable import HoldfastTool

@Suite("What postgres status says of a journal")
struct FleetReportTests {
    @Test("A closed journal is called delivered to the end only where nothing of it is known to be lost")
    func losses() throws {
        let listed = ListedJournal(
            id: 3, name: "w0", host: "w2", sighting: Sighting(epoch: 4, beats: 0, isFree: true), isClosed: true)
        var journal = FleetReport.Journal(listed, before: nil)
        journal.closedSeconds = 19
        #expect(journal.words == "closed 19 s ago by host w2, delivered to the end")
        let loss = LossWindow(from: WallTime(seconds: 1_764_431_221), to: WallTime(seconds: 1_764_431_232))
        journal.mayLack = FleetReport.Journal.Loss(loss)
        #expect(!journal.words.contains("delivered to the end"))
        #expect(journal.words.contains("MAY BE LOST"), "\(journal.words)")
        #expect(journal.words.contains("between about 2025-11-29T15:47:01"), "\(journal.words)")
        let json = String(decoding: try JSONEncoder().encode(journal), as: UTF8.self)
        #expect(json.contains(#""mayLack":{"#) && json.contains("2025-11-29T15:47:12"), "\(json)")
    }
}
