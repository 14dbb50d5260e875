import Foundation
import Holdfast
import HoldfastJournal
import Testing

@testable import HoldfastService

@Suite("Opening a journal that somebody has", .timeLimit(.minutes(1)))
struct JournalOpeningTests {
    private func withOwner(_ body: (LMDBJournal) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "/holdfast-\(UUID().uuidString).journal"
        let owner = try LMDBJournal(directory: path)
        defer {
            owner.close()
            do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record("\(error)") }
        }
        try await body(owner)
    }

    @Test("A service waits for the owner before it, says so once, and opens the journal when that has ended")
    func patient() async throws {
        try await withOwner { owner in
            var told: [JournalError.Code] = []
            let journal = try await JournalOpening.open(
                owner.directory, LMDBJournal.Options(), patienceWithOwners: .seconds(30)
            ) { error in
                told.append(error.code)
                owner.close()
            }
            journal.close()
            #expect(told == [.ownedByAnotherProcess])
        }
    }

    @Test("An owner that stays is waited for no longer than was said", arguments: [Duration.zero, .milliseconds(100)])
    func bounded(_ patience: Duration) async throws {
        try await withOwner { owner in
            var told = 0
            let start = ContinuousClock.now
            let error = await #expect(throws: JournalError.self) {
                _ = try await JournalOpening.open(
                    owner.directory, LMDBJournal.Options(), patienceWithOwners: patience
                ) { _ in told += 1 }
            }
            #expect(error?.code == .ownedByAnotherProcess)
            #expect(ContinuousClock.now - start >= patience)
            #expect(told == (patience > .zero ? 1 : 0))
        }
    }
}
