import Holdfast
import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

/// What goes wrong with an in-memory journal at a test's will.
@Suite("Faults of the in-memory journal", .timeLimit(.minutes(1))) struct FaultTests {
    private let key = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)

    /// What completions have said, in order.
    private final class Answers: Sendable {
        let all = Monitor<[String]>([])

        func note<Value>(_ name: String) -> @Sendable (Result<Value, JournalError>) -> Void {
            { result in
                let word: String
                switch result {
                case .success: word = "done"
                case .failure(let error) where error.code == .undetermined: word = "undetermined"
                case .failure(let error) where error.code == .mustBeReopened: word = "must be reopened"
                case .failure(let error) where error.code == .limitReached: word = "limit reached"
                case .failure(let error) where error.code == .closed: word = "closed"
                case .failure: word = "failed"
                }
                self.all.withLock { $0.append("\(name): \(word)") }
            }
        }
    }

    private func submission(_ journal: InMemoryJournal, _ numbers: [Int]) throws -> Submission {
        let lane = try journal.openLane(key).id
        var submission = Submission(
            producer: try journal.openProducer("default"), acceptedAt: WallTime(milliseconds: 1))
        for number in numbers {
            let range = SampleNotification.append(number, producer: "default", to: &submission.bytes)
            submission.items.append(Submission.Item(lane: lane, range: range))
        }
        return submission
    }

    @Test("What an undetermined commit held is there after reopening, or is not", arguments: [true, false])
    func undetermined(isKept: Bool) throws {
        let journal = InMemoryJournal(mode: .manual)
        let answers = Answers()
        let one = try submission(journal, [1])
        journal.append(one, completion: answers.note("first"))
        journal.commit()
        journal.append(one, completion: answers.note("second"))
        journal.append(one, completion: answers.note("third"))
        journal.breakNextCommit(leaving: isKept ? .all : .nothing)
        let failures = Monitor<[JournalError.Code]>([])
        try journal.observeCommits { report in failures.withLock { $0 += [report.failure?.code].compactMap(\.self) } }
        journal.commit(atMost: 1)
        #expect(journal.waitingCount == 1)
        journal.commit()
        journal.append(one, completion: answers.note("fourth"))
        journal.commit()
        #expect(
            answers.all.withLock { $0 } == [
                "first: done", "second: undetermined", "third: must be reopened", "fourth: must be reopened",
            ])
        #expect(failures.withLock { $0 } == [.undetermined])
        #expect(throws: JournalError.self) { try journal.status() }
        #expect(throws: JournalError.self) { try journal.openLane(key) }
        let reopened = journal.reopened()
        #expect(reopened.unconfirmedUIDs == (isKept ? [UID(1), UID(2)] : [UID(1)]))
        #expect(reopened.nextUID == (isKept ? UID(3) : UID(2)))
    }

    @Test("A commit that holds nothing but send marks can fail too, and is reported") func marks() throws {
        let journal = InMemoryJournal(mode: .manual)
        journal.append(try submission(journal, [1, 2])) { _ in }
        journal.commit()
        let lane = try journal.openLane(key).id
        let failures = Monitor(0)
        try journal.observeCommits { report in failures.withLock { $0 += report.failure == nil ? 0 : 1 } }
        journal.raiseMark(of: lane, to: UID(9))
        #expect(journal.waitingCount == 1)
        journal.breakNextCommit(leaving: .nothing)
        journal.commit()
        journal.commit()
        #expect(failures.withLock { $0 } == 1)
        #expect(journal.crashed().marks[key] == UID.none)
    }

    @Test("Writes that fail leave nothing, and marks rise when writes succeed again") func writes() throws {
        let journal = InMemoryJournal()
        let one = try submission(journal, [1])
        let lane = try journal.openLane(key).id
        journal.append(one) { _ in }
        let answers = Answers()
        journal.failWrites(with: JournalError(.diskFull, "full"))
        journal.append(one, completion: answers.note("append"))
        journal.raiseMark(of: lane, to: UID(1))
        #expect(answers.all.withLock { $0 } == ["append: failed"])
        #expect(journal.marks[key] == UID.none)
        #expect(throws: JournalError.self) { try journal.setNote("a", to: []) }
        journal.failWrites(with: nil)
        #expect(journal.marks[key] == UID(1))
        #expect(journal.unconfirmedUIDs == [UID(1)])
    }

    @Test("Reads fail until they are let succeed again, and hurt no write") func reads() throws {
        let journal = InMemoryJournal()
        let one = try submission(journal, [1])
        let lane = try journal.openLane(key).id
        journal.failReads(with: JournalError(.inputOutput, "worn out"))
        #expect(throws: JournalError.self) { try journal.unconfirmed(lane, after: .none, through: .max, limit: 1) }
        #expect(throws: JournalError.self) { try journal.nextDue(lane) }
        #expect(throws: JournalError.self) { try journal.outcomes(after: .start, limit: 1).outcomes }
        #expect(throws: JournalError.self) { try journal.blacklist.entries(for: SampleNotification.device(1)).first }
        journal.append(one) { _ in }
        journal.failReads(with: nil)
        #expect(try journal.unconfirmed(lane, after: .none, through: .max, limit: 1).count == 1)
    }

    @Test("A journal at its limit refuses appends, and lets settlements make room") func limit() throws {
        let journal = InMemoryJournal()
        let answers = Answers()
        let two = try submission(journal, [1, 2])
        let lane = try journal.openLane(key).id
        journal.limitEntries(to: 3)
        journal.append(two, completion: answers.note("first"))
        journal.append(two, completion: answers.note("second"))
        let batch = SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: UID(1))])
        journal.settle(batch, completion: answers.note("settle"))
        journal.append(two, completion: answers.note("third"))
        #expect(
            answers.all.withLock { $0 } == ["first: done", "second: limit reached", "settle: done", "third: done"])
    }

    @Test("The blacklist fails and waits by itself") func blacklist() throws {
        let journal = InMemoryJournal(mode: .manual)
        let answers = Answers()
        let entry = BlacklistEntry(
            token: SampleNotification.token(1), reason: .unregistered, since: WallTime(milliseconds: 1),
            learntAt: WallTime(milliseconds: 1), route: "default")
        journal.blacklist.add([entry], completion: answers.note("first"))
        journal.commit()
        #expect(journal.waitingBlacklistCount == 1)
        #expect(journal.crashed().blacklist.count == 0)
        journal.failBlacklistWrites(with: JournalError(.diskFull, "full"))
        journal.commitBlacklist()
        journal.failBlacklistWrites(with: nil)
        journal.blacklist.add([entry], completion: answers.note("second"))
        journal.commitBlacklist()
        #expect(answers.all.withLock { $0 } == ["first: failed", "second: done"])
        #expect(journal.crashed().blacklist.count == 1)
    }

    @Test("A completion may call what does not block, and is followed by its completion") func reentry() throws {
        let journal = InMemoryJournal()
        let answers = Answers()
        let one = try submission(journal, [1])
        journal.append(one) { result in
            journal.append(one, completion: answers.note("inner"))
            answers.note("outer")(result)
        }
        #expect(answers.all.withLock { $0 } == ["outer: done", "inner: done"])
    }

    @Test("An entry is shown as it is on disk") func entries() throws {
        let journal = InMemoryJournal()
        journal.append(try submission(journal, [1, 2])) { _ in }
        let lane = try journal.openLane(key).id
        let due = WallTime(milliseconds: 77)
        let kind = Settlement.Kind.deferUntil(due, attempts: 3, reason: .shutdown, possiblySent: true)
        journal.settle(SettlementBatch(others: [Settlement(EntryKey(lane: lane, uid: UID(2)), kind)])) { _ in }
        let entries = journal.entries
        #expect(entries.map(\.uid) == [UID(1), UID(2)])
        #expect(entries.map(\.deferredUntil) == [nil, due])
        #expect(entries.map(\.attempts) == [0, 3])
        #expect(entries.map(\.isFlaggedPossiblySent) == [false, true])
        #expect(entries[1].notification == SampleNotification.numbered(2))
    }

    @Test("Ten thousand entries are appended, read and settled one by one in reasonable time") func isNotQuadratic()
        throws
    {
        let journal = InMemoryJournal()
        let one = try submission(journal, [1])
        let lane = try journal.openLane(key).id
        let took = try ContinuousClock().measure {
            for _ in 1...10_000 { journal.append(one) { _ in } }
            var last = UID.none
            while let uid = try journal.unconfirmed(lane, after: last, through: .max, limit: 1).items.first?.uid {
                journal.settle(SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: uid)])) { _ in }
                last = uid
            }
        }
        #expect(journal.unconfirmedUIDs.isEmpty)
        // A fifth of a second here; quadratic, it would be minutes.
        #expect(took < .seconds(20))
    }
}
