import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPostgres
import HoldfastTesting
import Scratch
import Testing

@testable import HoldfastService

@Suite("Journals of a directory where working copies are to lie")
struct FormerJournalsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A copy that was moved aside is no former journal")
    func movedAside() async throws {
        let path = folder("moved.journal")
        let journal = try LMDBJournal(directory: path)
        let engine = try PushEngine(journal: journal, routes: [Route(connector: InMemoryConnector())])
        let notification = PushNotification(token: try DeviceToken("00fc13ad"), topic: "topic", payload: "{}")
        for receipt in await engine.producer.submit([notification]) { _ = try receipt.get() }
        journal.close()
        for place in [folder.path, path] {
            let error = #expect(throws: JournalError.self) { try FormerJournals.refuse(in: place) }
            #expect(error?.message.contains("1 notification waits") == true, "\(error?.message ?? "")")
        }
        // The note beside a copy, which moves with it.
        try folder.write("moved.journal/copy", "epoch 1\n")
        #expect(CopyPlace.isCopy(path) && !CopyPlace.isCopy(folder.path))
        for place in [folder.path, path] { try FormerJournals.refuse(in: place) }
    }
}
