import Holdfast
import HoldfastTesting
import Testing

/// The moments of a commit of an in-memory journal, and requests that take several commits.
@Suite("Moments of a commit", .timeLimit(.minutes(1))) struct MomentTests {
    private let key = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)

    /// An account of what was told, in order.
    private final class Account: Sendable {
        let lines = Monitor<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// With an account of its reports and answers, and with the entries 1 to 3 on disk.
    private func prepare() throws -> (journal: InMemoryJournal, lane: LaneID, account: Account) {
        let journal = InMemoryJournal(mode: .manual)
        let lane = try journal.openLane(key).id
        var submission = Submission(
            producer: try journal.openProducer("default"), acceptedAt: WallTime(milliseconds: 1))
        for number in 1...3 {
            let range = SampleNotification.append(number, producer: "default", to: &submission.bytes)
            submission.items.append(Submission.Item(lane: lane, range: range))
        }
        journal.append(submission) { _ in }
        journal.commit()
        let account = Account()
        try journal.observeCommits { _ in account.add("report") }
        return (journal, lane, account)
    }

    private func acknowledge(_ uids: [UInt64], _ lane: LaneID) -> SettlementBatch {
        SettlementBatch(acknowledging: uids.map { EntryKey(lane: lane, uid: UID($0)) })
    }

    @Test("Readers see a commit before its report, and the report comes before the answers, one by one")
    func moments() throws {
        let (journal, lane, account) = try prepare()
        for uid in 1...2 { journal.settle(acknowledge([UInt64(uid)], lane)) { _ in account.add("settled \(uid)") } }
        journal.beginCommit()
        #expect(journal.moment == .visible)
        #expect(journal.unconfirmedUIDs == [UID(3)])
        #expect(account.lines.withLock { $0 } == [])
        journal.stepCommit()
        #expect(journal.moment == .reported)
        #expect(account.lines.withLock { $0 } == ["report"])
        journal.stepCommit()
        #expect(account.lines.withLock { $0 } == ["report", "settled 1"])
        #expect(journal.moment == .reported)
        journal.stepCommit()
        #expect(account.lines.withLock { $0 } == ["report", "settled 1", "settled 2"])
        #expect(journal.moment == nil)
    }

    @Test("A commit that readers see survives a crash, and its answers do not") func crash() throws {
        let (journal, lane, account) = try prepare()
        journal.settle(acknowledge([1], lane)) { _ in account.add("settled") }
        journal.beginCommit()
        let next = journal.crashed()
        #expect(next.unconfirmedUIDs == [UID(2), UID(3)])
        next.commit()
        #expect(account.lines.withLock { $0 } == [])
    }

    @Test("A commit under way ends before another begins, and before a call that is durable on return")
    func order() throws {
        let (journal, lane, account) = try prepare()
        journal.settle(acknowledge([1], lane)) { _ in account.add("settled 1") }
        journal.beginCommit()
        journal.settle(acknowledge([2], lane)) { _ in account.add("settled 2") }
        try journal.setNote("note", to: [1])
        #expect(journal.moment == nil)
        #expect(account.lines.withLock { $0 } == ["report", "settled 1", "report", "settled 2"])
    }

    @Test("A settlement that takes several commits is answered by the last, and what failed halfway is half done")
    func halfway() throws {
        let (journal, lane, account) = try prepare()
        journal.limitCommits(to: 2)
        journal.settle(acknowledge([1, 2, 3], lane)) { result in
            account.add("\((try? result.get())?.settled ?? -1)")  // A failure counts as -1.
        }
        journal.commit()
        #expect(journal.unconfirmedUIDs == [UID(3)])
        #expect(journal.waitingCount == 1)
        journal.failWrites(with: JournalError(.diskFull, "the disk is full"))
        journal.commit()
        #expect(journal.unconfirmedUIDs == [UID(3)])
        #expect(account.lines.withLock { $0 } == ["report", "-1"])
        journal.failWrites(with: nil)
        journal.settle(acknowledge([1, 2, 3], lane)) { result in
            guard case .success(let report) = result else { return account.add("failed") }
            account.add("\(report.settled) settled, \(report.gone) gone")
        }
        journal.commit()
        journal.commit()
        #expect(account.lines.withLock { $0 } == ["report", "-1", "report", "report", "1 settled, 2 gone"])
    }

    @Test("A promotion that fails halfway names what it has brought back") func promotionHalfway() throws {
        let (journal, lane, account) = try prepare()
        let due = WallTime(milliseconds: 5)
        journal.settle(
            SettlementBatch(
                others: (1...3).map { uid in
                    Settlement(
                        EntryKey(lane: lane, uid: UID(UInt64(uid))),
                        .deferUntil(due, attempts: 1, reason: .neverProcessed, possiblySent: false))
                })
        ) { _ in }
        journal.commit()
        journal.limitCommits(to: 2)
        journal.promoteDue(lane, after: nil, now: due, limit: 10) { result in
            guard case .success(let uids) = result else { return account.add("failed") }
            account.add("brought back \(uids.map(\.rawValue))")
        }
        journal.commit()
        journal.failWrites(with: JournalError(.diskFull, "the disk is full"))
        journal.commit()
        #expect(account.lines.withLock { $0 } == ["report", "report", "brought back [1, 2]"])
    }
}
