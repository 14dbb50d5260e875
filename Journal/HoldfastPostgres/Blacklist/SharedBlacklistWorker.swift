internal import Foundation
internal import Holdfast
internal import HoldfastPQ

/// The thread of a shared blacklist: tells the database the changes of this host, and brings its copy to the end of the feed,
/// over a connection of its own.
struct SharedBlacklistWorker: ~Copyable {
    private let terms: SharedBlacklist.Terms
    private let calls: BlacklistCalls
    private let current: CurrentCopy
    private let another: @Sendable (JournalError) throws(JournalError) -> any BlacklistCopy
    private let board: SharedBlacklistBoard
    /// Of the current copy, or of one that is filled to take its place.
    private var reader: FeedReader
    private var session: ServiceSession
    private let writer = UUID()
    private var turn: Int64 = 1
    /// What the database has answered, and nobody was told yet.
    private var answers: [@Sendable () -> Void] = []
    private var nextTrim: ContinuousClock.Instant

    init(
        _ terms: SharedBlacklist.Terms, _ current: CurrentCopy,
        _ another: @escaping @Sendable (JournalError) throws(JournalError) -> any BlacklistCopy,
        _ board: SharedBlacklistBoard, _ interruption: PQInterruption
    ) {
        self.terms = terms
        self.current = current
        self.another = another
        self.board = board
        calls = BlacklistCalls(terms.schema)
        session = ServiceSession(terms.target, terms.schema, name: "holdfast blacklist", interruption)
        reader = FeedReader(calls, current.copy, pageRowCount: terms.pageRowCount)
        // Not all hosts at once.
        nextTrim = .now + terms.trimming * Double.random(in: 0.5...1.5)
    }

    mutating func run() {
        let shortest = Duration.milliseconds(50)
        var pause = shortest
        while !board.isStopped {
            do throws(FeedTrouble) {
                let isAtEnd = try work()
                board.tell(nil)
                pause = shortest
                if isAtEnd { board.rest(terms.interval, heeding: true) }
            } catch {
                board.tell(error)
                session.close()
                board.rest(pause, heeding: false)
                pause = min(pause * 2, .seconds(2))
            }
        }
        session.close()
        if !current.isCurrent(reader.copy) { reader.copy.close() }
        for call in board.end() { call.answer(.failure(SharedBlacklist.closed)) }
    }

    /// - Returns: whether the copy is at the end of the feed.
    private mutating func work() throws(FeedTrouble) -> Bool {
        // The copy shows what was told before anybody hears that it was. If the feed can't be read, the changes still hold here,
        // as pending ones, and the database has them.
        defer { answer() }
        let connection = try connected()
        try tell(connection)
        try makeAnotherIfEnded()
        let asked = board.asked
        switch try reader.readPage(connection, by: deadline) {
        case .page: return false
        case .other:
            board.beganAnew()
            return false
        case .end:
            if !current.isCurrent(reader.copy) { current.replace(with: reader.copy) }
            board.copied(upTo: reader.place.number, asked: asked)
            try trim(connection)
            return true
        }
    }

    /// Where the copy takes nothing more, goes on with another one, which is filled from the beginning.
    private mutating func makeAnotherIfEnded() throws(FeedTrouble) {
        let former = reader.copy
        guard let ending = former.ending else { return }
        former.giveUp()
        let made: any BlacklistCopy
        do throws(JournalError) { made = try another(ending) } catch { throw .copy(error) }
        reader = FeedReader(calls, made, pageRowCount: terms.pageRowCount)
        board.beganAnew()
        // Nobody reads one that was not full yet.
        if !current.isCurrent(former) { former.close() }
    }

    private mutating func tell(_ connection: PQConnection) throws(FeedTrouble) {
        let underWay = board.begin(atMost: terms.batchCount)
        guard !underWay.isEmpty else { return }
        let result = try share(underWay.flatMap(\.changes), connection)
        board.told(upTo: result.number)
        var rest = result.removed[...]
        for call in underWay {
            let removed = rest.prefix(call.changes.count).reduce(0, +)
            rest = rest.dropFirst(call.changes.count)
            answers.append { call.answer(.success(Int(removed))) }
        }
    }

    private mutating func share(
        _ changes: [SharedChange], _ connection: PQConnection
    ) throws(FeedTrouble) -> (number: UInt64, removed: [Int64]) {
        // A registration that lifts nothing.
        if changes.isEmpty { return (0, []) }
        let (writer, turn, calls, deadline) = (writer, turn, calls, deadline)
        let result = try FeedTrouble.of { () throws(PQError) in
            try calls.share(changes, writer: writer, turn: turn, connection, by: deadline)
        }
        self.turn += 1
        return result
    }

    private mutating func answer() {
        for answer in answers { answer() }
        answers = []
    }

    private mutating func trim(_ connection: PQConnection) throws(FeedTrouble) {
        guard .now >= nextTrim else { return }
        nextTrim = .now + terms.trimming
        let (calls, time, deadline) = (calls, terms.keeping, deadline)
        _ = try FeedTrouble.of { () throws(PQError) in try calls.trim(keeping: time, connection, by: deadline) }
    }

    private var deadline: ContinuousClock.Instant { .now + terms.answer }

    private mutating func connected() throws(FeedTrouble) -> PQConnection {
        let connection: PQConnection
        let isNew: Bool
        do throws(PQError) { (connection, isNew) = try session.opened(by: .now + terms.connecting) } catch {
            throw .database(error)
        }
        if isNew {
            reader.sessionBegan()
            if reader.isFilling { board.beganAnew() }
        }
        return connection
    }
}
