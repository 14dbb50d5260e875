internal import Holdfast
internal import HoldfastPQ

/// The thread of an intake.
struct OutboxWorker {
    private static let turnInterval = Duration.seconds(1)
    private static let restorationPause = Duration.milliseconds(100)

    private let terms: OutboxIntake.Terms
    private let calls: OutboxCalls
    private let receiver: any OutboxReceiver
    private let board: OutboxBoard
    private let interruption: PQInterruption
    private var session: ServiceSession
    private var pace: OutboxPace
    /// The rows that are claimed, and whose end is not known.
    private var inHand: Set<Int64> = []
    /// Submissions without an answer.
    private var underWay = 0
    /// Rows that were refused for now.
    private var again: [OutboxRow] = []
    /// Rows that are not taken.
    private var endings: [OutboxCalls.Ending] = []
    /// Behind which rows that the journal had claimed are to be listed; `nil` when all were.
    private var listedTo: Int64? = 0
    /// As of which rows were listed.
    private var restorations = 0
    private var nextTurn = ContinuousClock.now
    private var ending: OutboxIntake.Ending?

    init(
        _ terms: OutboxIntake.Terms, _ receiver: any OutboxReceiver, _ board: OutboxBoard,
        _ interruption: PQInterruption
    ) {
        self.terms = terms
        pace = OutboxPace(batch: terms.batch)
        self.receiver = receiver
        self.board = board
        self.interruption = interruption
        calls = OutboxCalls(terms.schema, journal: terms.journal, epoch: terms.epoch, hold: terms.hold)
        session = ServiceSession(
            terms.target, terms.schema, name: "holdfast outbox of journal \(terms.journal)", interruption)
    }

    mutating func run() {
        while ending == nil {
            do throws(PQError) {
                try step()
            } catch {
                failed(error)
            }
            board.tell { $0.inHand = inHand.count }
        }
        session.close()
        board.tell { $0.ending = ending }
        board.endThread()
    }

    private mutating func failed(_ error: PQError) {
        session.close()
        // A claim may have been made of which nobody here knows.
        listedTo = 0
        tell(error.description)
        if error.kind == .refused, error.sqlState == LogRefusal.lost { ending = .ownershipLost }
        if error.kind == .interrupted { ending = .stopped }
        if ending == nil { board.rest(pace.wasRefused()) }
    }

    private mutating func step() throws(PQError) {
        for answer in board.takeAnswers() { judge(answer) }
        if ending != nil { return }
        if again.isEmpty, underWay == 0 { pace.nothingWaits() }
        guard let present = terms.restorations() else {
            if interruption.isInterrupted { ending = .stopped } else { board.pause(Self.restorationPause) }
            return
        }
        if restorations != present { (listedTo, restorations) = (0, present) }
        try settle()
        if board.isStopped { return try stop() }
        if !again.isEmpty, underWay == 0 {
            let leaves = terms.leavesRefused()
            if leaves { try letGo() }
            board.rest(pace.wasRefused())
            if board.isStopped { return try stop() }
            if !leaves { try submitAgain() }
            return
        }
        guard again.isEmpty, underWay < pace.mostUnderWay else { return board.rest(.seconds(1)) }
        let rows = try claim()
        if rows.isEmpty {
            guard listedTo == nil else { return }
            if !terms.takesNew, inHand.isEmpty { ending = .drained } else { board.rest(pace.foundNothing()) }
        } else {
            pace.found()
            inHand.formUnion(rows.map(\.id))
            submit(try withoutDoubt(rows))
        }
        try turn()
    }

    /// Submits what was refused for the moment, if it still is this journal's: a database that went back in time knows nothing of the
    /// claim, or lacks the row, and another may have its number.
    private mutating func submitAgain() throws(PQError) {
        let numbers = again.map(\.id)
        guard var place = numbers.min().map({ $0 - 1 }), let last = numbers.max() else { return }
        let wanted = Set(again.map(\.place))
        var found: [OutboxRow] = []
        while place < last {
            let page = try calls.claimed(after: place, terms.batch, try connected(), by: .now + terms.answer)
            found += page.filter { wanted.contains($0.place) }
            place = page.count < terms.batch ? last : page.last?.id ?? last
        }
        let rows = try withoutDoubt(found)
        again = []
        // Of what is in their place nobody has heard here.
        if found.count < numbers.count { listedTo = 0 }
        inHand.subtract(Set(numbers).subtracting(found.map(\.id)))
        submit(rows)
    }

    private mutating func claim() throws(PQError) -> [OutboxRow] {
        let connection = try connected()
        // What is under way may have numbers that come again in a database that went back in time.
        guard listedTo != 0 || underWay == 0 else {
            board.rest(.seconds(1))
            return []
        }
        let deadline = ContinuousClock.now + terms.answer
        if let listed = listedTo {
            let rows = try calls.claimed(after: listed, terms.batch, connection, by: deadline)
            listedTo = rows.count < terms.batch ? nil : rows.last?.id
            return rows.filter { !inHand.contains($0.id) }
        }
        if !terms.takesNew { return [] }
        let most = min(terms.batch, terms.room())
        let rows = try most > 0 ? calls.claim(most, at: receiver.earliestTime, connection, by: deadline) : []
        tell(nil)
        if !rows.isEmpty { terms.onClaimed() }
        return rows
    }

    /// Claims and submissions leave rows that are gone in the tables, and identities that are too old.
    private mutating func turn() throws(PQError) {
        guard terms.takesNew, ContinuousClock.now >= nextTurn else { return }
        nextTurn = .now + Self.turnInterval
        try calls.turn(try connected(), by: .now + terms.answer)
        let bounds = receiver.identityBounds
        try IdentityCalls(terms.schema).turn(
            age: bounds.age, limit: bounds.limit, try connected(), by: .now + terms.answer)
    }

    /// What is in hand and was not submitted is for others.
    private mutating func stop() throws(PQError) {
        if underWay > 0 { return board.rest(.milliseconds(100)) }
        try letGo()
        ending = .stopped
    }

    /// Lets others have what the journal does not take now.
    private mutating func letGo() throws(PQError) {
        guard !again.isEmpty else { return }
        let numbers = again.map(\.id)
        try calls.release(numbers, try connected(), by: .now + terms.answer)
        inHand.subtract(numbers)
        again = []
    }

    // MARK: Rows that may have been taken before

    /// Ends rows that the journal has taken already, in a commit that the database had lost, and those that may have been sent and
    /// are not to be sent twice.
    private mutating func withoutDoubt(_ rows: [OutboxRow]) throws(PQError) -> [OutboxRow] {
        guard rows.contains(where: \.isPossiblySent) else { return rows }
        let before: Set<QueueRow>
        do { before = try terms.takenBefore() } catch {
            throw PQError(.unexpected, "the journal can't say which submissions by SQL it has: \(error)")
        }
        let doubtful = rows.filter { $0.isPossiblySent && !before.contains($0.place) }
        let unknown = doubtful.filter(\.isOnce)
        endings += rows.filter { $0.isPossiblySent && before.contains($0.place) }.map { .init($0.id, nil) }
        endings += unknown.map { .init(unknown: $0.id) }
        board.tell {
            $0.unknown += unknown.count
            $0.possiblyTwice += doubtful.count - unknown.count
        }
        if !doubtful.isEmpty { terms.onDoubt(unknown.count, doubtful.count - unknown.count) }
        let ended = Set(endings.map(\.id))
        return rows.filter { !ended.contains($0.id) }
    }

    // MARK: Submitting

    private mutating func submit(_ rows: [OutboxRow]) {
        var groups: [String: [OutboxRow]] = [:]
        for row in rows {
            if case .failure(let refusal) = row.notification {
                endings.append(.init(row.id, refusal))
            } else {
                groups[row.producer, default: []].append(row)
            }
        }
        for (producer, rows) in groups {
            for start in stride(from: 0, to: rows.count, by: pace.part) {
                submit(Array(rows[start..<min(start + pace.part, rows.count)]), as: producer)
            }
        }
    }

    private mutating func submit(_ rows: [OutboxRow], as producer: String) {
        let notifications = rows.compactMap { row in try? row.notification.get() }
        do {
            try receiver.submit(notifications, as: producer, taking: rows.map(\.place)) { [board] receipts in
                board.answer(.init(rows: rows, receipts: receipts))
            }
            underWay += 1
        } catch let refusal as Refusal {
            for row in rows { refused(row, refusal) }
        } catch let error as JournalError where error.code == .tooManyProducers {
            for row in rows { refused(row, Refusal(.badProducerName, error.message)) }
        } catch {
            for row in rows { refused(row, Refusal(.journalFailed, "\(error)")) }
        }
    }

    private mutating func judge(_ answer: OutboxBoard.Answer) {
        underWay -= 1
        var (taken, hadNoRoom) = (0, false)
        for (row, receipt) in zip(answer.rows, answer.receipts) {
            switch receipt {
            case .accepted, .repeated:
                taken += 1
                // One that was refused now, and taken before, has not left the outbox with a commit.
                if row.isNamed { endings.append(.init(row.id, nil)) } else { inHand.remove(row.id) }
            case .refused(let refusal):
                refused(row, refusal)
                hadNoRoom = hadNoRoom || refusal.reason == .journalFull
            case .undetermined(let error):
                ending = .journalFailed
                tell(error.message, isOfJournal: true)
            }
        }
        if hadNoRoom { pace.hadNoRoom() } else if taken > 0 { pace.wasTaken() }
        board.tell { $0.taken += taken }
    }

    private mutating func refused(_ row: OutboxRow, _ refusal: Refusal) {
        if [.journalFull, .journalFailed, .journalUnreachable, .shuttingDown].contains(refusal.reason) {
            again.append(row)
            tell(refusal.detail, isOfJournal: refusal.reason != .journalUnreachable)
        } else {
            endings.append(.init(row.id, refusal))
        }
    }

    private func tell(_ trouble: String?, isOfJournal: Bool = false) {
        board.tell { ($0.trouble, $0.isOfJournal) = (trouble, isOfJournal) }
    }

    private mutating func settle() throws(PQError) {
        guard !endings.isEmpty else { return }
        try calls.settle(endings, try connected(), by: .now + terms.answer)
        for ending in endings { inHand.remove(ending.id) }
        let rejected = endings.count { $0.reason != nil }
        board.tell { $0.rejected += rejected }
        endings = []
    }

    private mutating func connected() throws(PQError) -> PQConnection {
        let (connection, isNew) = try session.opened(by: .now + terms.connecting)
        if isNew { listedTo = 0 }
        return connection
    }
}
