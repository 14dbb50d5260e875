internal import Holdfast
internal import HoldfastPQ

/// The thread of an outlet.
struct OutcomeWorker {
    private static let pageCount = 1000
    /// Outcomes of others that are passed before that is noted in the database.
    private static let passedCount: UInt64 = 10_000
    private static let shortestPause = Duration.milliseconds(20)
    private static let longestPause = Duration.milliseconds(200)
    private static let pauseAfterFailure = Duration.seconds(1)
    private static let trimInterval = Duration.seconds(60)
    private static let lookInterval = Duration.seconds(2)

    private let terms: OutcomeOutlet.Terms
    private let calls: OutcomeCalls
    private let log: OutcomeLogReading
    private let board: OutcomeBoard
    private var session: ServiceSession
    /// In the database; `nil` while that is not known.
    private var cursor: OutcomeCursor?
    /// How far the log was read.
    private var place = OutcomeCursor.start
    /// How far it was read at most.
    private var passed = OutcomeCursor.start
    private var pause = shortestPause
    private var nextTrim = ContinuousClock.now
    private var nextLook = ContinuousClock.now + lookInterval
    private var isOver = false

    init(
        _ terms: OutcomeOutlet.Terms, _ log: OutcomeLogReading, _ board: OutcomeBoard, _ interruption: PQInterruption
    ) {
        self.terms = terms
        self.log = log
        self.board = board
        calls = OutcomeCalls(terms.schema, journal: terms.journal, epoch: terms.epoch)
        session = ServiceSession(
            terms.target, terms.schema, name: "holdfast outcomes of journal \(terms.journal)", interruption)
    }

    mutating func run() {
        while !isOver {
            do throws(OutletTrouble) {
                // What comes after this look is not waited for.
                let isLast = board.isStopped
                if try !step() {
                    if isLast {
                        try notePassed()
                        break
                    }
                    board.rest(pause)
                    pause = min(pause * 2, Self.longestPause)
                }
                board.tell { $0.trouble = nil }
            } catch {
                failed(error)
            }
        }
        session.close()
        board.endThread()
    }

    private mutating func failed(_ trouble: OutletTrouble) {
        session.close()
        // What was put is found out.
        cursor = nil
        board.tell { $0.trouble = trouble.description }
        if trouble.isOwnershipLost {
            board.tell { $0.isOwnershipLost = true }
            isOver = true
        } else if trouble.isInterrupted || board.isStopped {
            isOver = true
        } else {
            board.rest(Self.pauseAfterFailure)
        }
    }

    /// - Returns: false when there was nothing to read.
    private mutating func step() throws(OutletTrouble) -> Bool {
        // What the database lacks it would know of from here alone.
        guard !terms.isLacking() else { return false }
        let known: OutcomeCursor
        if let cursor { known = cursor } else { known = try found() }
        let listing: OutcomeListing
        do throws(JournalError) {
            // The beginning is where the log begins.
            listing = try log.listing(after: place == .start ? nil : place, limit: Self.pageCount, of: nil)
        } catch {
            throw OutletTrouble(error)
        }
        board.tell { $0.isHistoryKept = listing.isKept }
        guard listing.end > place else {
            try look()
            try trim()
            return false
        }
        pause = Self.shortestPause
        let wanted = terms.tellsAll ? listing.outcomes : listing.outcomes.filter(\.cameBySQL)
        if !wanted.isEmpty || listing.end.rawValue - known.rawValue >= Self.passedCount {
            try put(wanted, from: known, to: listing.end)
        }
        note(listing.missed, after: place)
        place = listing.end
        passed = max(passed, place)
        terms.onTold(place)
        board.tell { status in
            status.cursor = listing.end
            status.missed += listing.missed
        }
        return true
    }

    /// Has the next owner begin behind outcomes that were passed.
    private mutating func notePassed() throws(OutletTrouble) {
        if let cursor, place > cursor, !terms.isLacking() { try put([], from: cursor, to: place) }
    }

    /// Tells of outcomes that are gone, but not of those that were passed before.
    private func note(_ missed: Int, after start: OutcomeCursor) {
        let known = passed > start ? Int(clamping: passed.rawValue - start.rawValue) : 0
        if missed > known { terms.onMissed(missed - known) }
    }

    private mutating func found() throws(OutletTrouble) -> OutcomeCursor {
        do throws(PQError) {
            let found = try calls.cursor(try connected(), by: .now + terms.answer)
            (cursor, place) = (found, found)
            terms.onTold(found)
            board.tell { $0.cursor = found }
            return found
        } catch {
            throw OutletTrouble(error)
        }
    }

    private mutating func put(
        _ outcomes: [Outcome], from start: OutcomeCursor, to end: OutcomeCursor
    ) throws(OutletTrouble) {
        do throws(PQError) {
            try calls.put(outcomes, from: start, to: end, try connected(), by: .now + terms.answer)
        } catch {
            throw OutletTrouble(error)
        }
        cursor = end
        board.tell { $0.put += outcomes.count }
    }

    /// A database that went back in time lacks outcomes that were put.
    private mutating func look() throws(OutletTrouble) {
        guard ContinuousClock.now >= nextLook else { return }
        nextLook = .now + Self.lookInterval
        do throws(PQError) {
            guard try calls.cursor(try connected(), by: .now + terms.answer) != cursor else { return }
        } catch {
            throw OutletTrouble(error)
        }
        _ = try found()
    }

    private mutating func trim() throws(OutletTrouble) {
        guard ContinuousClock.now >= nextTrim else { return }
        nextTrim = .now + Self.trimInterval
        do throws(PQError) {
            let (age, count) = terms.keeps
            let trimmed = try calls.trim(age: age, count: count, try connected(), by: .now + terms.answer)
            board.tell { $0.trimmed += trimmed }
            if trimmed > 0 { nextTrim = .now }
        } catch {
            throw OutletTrouble(error)
        }
    }

    private mutating func connected() throws(PQError) -> PQConnection {
        try session.opened(by: .now + terms.connecting).0
    }
}

/// A reason for which outcomes are not put now.
private struct OutletTrouble: Error {
    let description: String
    var isOwnershipLost = false
    var isInterrupted = false

    init(_ error: PQError) {
        description = error.description
        isOwnershipLost = error.kind == .refused && error.sqlState == LogRefusal.lost
        isInterrupted = error.kind == .interrupted
    }

    init(_ error: JournalError) { description = error.message }
}

extension Outcome {
    /// Whether it was submitted by SQL: the names of such Producers begin so.
    fileprivate var cameBySQL: Bool { producer == "sql" || producer.hasPrefix("sql:") }
}
