import Testing

@testable import Holdfast

@Suite struct SubmissionDraftTests {
    private func draft(_ count: Int, refused: [Int]) -> SubmissionDraft {
        var draft = SubmissionDraft(count: count)
        for index in 0..<count {
            if refused.contains(index) {
                draft.refuse(at: index, Refusal(.payloadEmpty, "no"))
                continue
            }
            draft.append(
                Sample.notification(index), at: index, route: 0, lane: LaneID(rawValue: 1), id: NotificationID(),
                identity: nil, expiration: .once, acceptedAt: WallTime(seconds: 0), producer: "", newestWins: false)
        }
        return draft
    }

    @Test("Receipts stand by their notifications, with refusals and repeats in between") func receipts() {
        let draft = draft(8, refused: [0, 4])
        // Of the six that went to the journal the first, the third and the last are repeats.
        let appended = Appended(
            first: UID(100),
            repeats: [
                Appended.Repeat(index: 0, uid: UID(7), outcome: nil),
                Appended.Repeat(index: 2, uid: UID(8), outcome: .confirmed),
                Appended.Repeat(index: 5, uid: UID(101), outcome: nil),
            ])
        #expect(
            text(draft.receipts(.success(appended)))
                == ["PayloadEmpty", "7", "100", "8 confirmed", "PayloadEmpty", "101", "102", "101"])
    }

    @Test("Nothing but repeats is accepted as what it was") func allRepeats() {
        let appended = Appended(
            first: UID(9), repeats: [0, 1].map { Appended.Repeat(index: $0, uid: UID(3), outcome: .unknown) })
        #expect(text(draft(2, refused: []).receipts(.success(appended))) == ["3 unknown", "3 unknown"])
    }

    @Test("What the journal could not do is told for each, in our words") func failures() {
        let draft = draft(2, refused: [1])
        let full = draft.receipts(.failure(JournalError(.limitReached, "full")))
        #expect(text(full) == ["JournalFull", "PayloadEmpty"])
        let diskFull = draft.receipts(.failure(JournalError(.diskFull, "full")))
        #expect(text(diskFull) == ["JournalFull", "PayloadEmpty"])
        let away = draft.receipts(.failure(JournalError(.unreachable, "away")))
        #expect(text(away) == ["JournalUnreachable", "PayloadEmpty"])
        let lost = draft.receipts(.failure(JournalError(.ownershipLost, "lost")))
        #expect(text(lost) == ["JournalFailed", "PayloadEmpty"])
        let broken = draft.receipts(.failure(JournalError(.inputOutput, "broken")))
        #expect(text(broken) == ["JournalFailed", "PayloadEmpty"])
        let open = draft.receipts(.failure(JournalError(.undetermined, "who knows")))
        #expect(text(open) == ["undetermined", "PayloadEmpty"])
    }

    @Test("What is refused late does not go to the journal") func refusedLate() {
        var draft = draft(3, refused: [])
        draft.refuse(1, Refusal(.blacklisted, "no"))
        let submission = draft.submission(
            producer: ProducerID(rawValue: 1), acceptedAt: WallTime(seconds: 0), earliestTime: WallTime(seconds: 0),
            note: nil)
        #expect(submission.items.count == 2)
        #expect(text(draft.receipts(.success(Appended(first: UID(1))))) == ["1", "Blacklisted", "2"])
    }

    @Test("Behind the first refusal nothing is taken, and nothing is answered") func cut() {
        var draft = draft(5, refused: [4])
        draft.refuse(2, Refusal(.blacklisted, "no"))
        draft.cutBehindRefusal()
        #expect(text(draft.receipts(.success(Appended(first: UID(1))))) == ["1", "2", "Blacklisted"])
    }
}
