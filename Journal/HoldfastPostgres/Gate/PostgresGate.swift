package import HoldfastLMDB
package import HoldfastPQ
internal import Synchronization

/// Keeps the commits of a journal in the log that PostgreSQL has, over a connection of its own.
///
/// A commit waits until it is known whether it is kept, however long the database is away. It ends without an answer only when
/// the gate is stopped, or when another host has taken the journal.
package final class PostgresGate: CommitGate {
    package struct Terms: Sendable {
        package var target: PQTarget
        package var schema: SchemaName
        package var journal: Int32
        /// Of the ownership under which commits are kept. Every opening of the journal should take a new one, so that calls of a
        /// gate before are refused.
        package var epoch: Int64
        /// For connecting, and setting the session up.
        package var connecting: Duration
        /// After which the call of a commit is in doubt, and made again. Long, as a standby that is away is waited for, too.
        package var answer: Duration
        /// Whether somebody writes back what the log lacks, after which ``PostgresGate/mended()`` is called. Else the gate ends.
        package var isMended = false

        package init(
            target: PQTarget, schema: SchemaName = .standard, journal: Int32, epoch: Int64,
            connecting: Duration = .seconds(5), answer: Duration = .seconds(60)
        ) {
            self.target = target
            self.schema = schema
            self.journal = journal
            self.epoch = epoch
            self.connecting = connecting
            self.answer = answer
        }
    }

    package struct Status: Sendable {
        /// Why nothing is kept any more; `nil` while the gate works.
        package internal(set) var ending: GateMachine.Ending?
        /// Why the commit under way was not kept yet.
        package internal(set) var trouble: Trouble?
        package internal(set) var underWay: Waiting?
        /// How often the log had lacked commits, and has them again.
        package internal(set) var mendings = 0
        /// The last commit that is known to be kept.
        package internal(set) var last: UInt64 = 0
    }

    package struct Trouble: Sendable {
        package let cause: DatabaseTrouble
        package let since: ContinuousClock.Instant

        package var words: String { cause.words }
    }

    /// A commit that waits for the database.
    package struct Waiting: Sendable {
        package let number: UInt64
        package let since: ContinuousClock.Instant
    }

    private let name: String
    private let isMended: Bool
    private let board = GateBoard()
    private let interruption: PQInterruption
    /// Held while a commit is kept: the environment has one writer at a time.
    private let worker: Mutex<GateWorker>

    /// - Parameter last: the last commit of the log, which the copy has.
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(_ terms: Terms, after last: UInt64) throws(PQError) {
        name = "journal \(terms.journal) in PostgreSQL"
        isMended = terms.isMended
        interruption = try PQInterruption()
        worker = Mutex(GateWorker(terms, board, interruption, after: last))
    }

    package var status: Status { board.status }

    /// - Throws: `notKept` or `rowsGone`, or `copyIsBehind` where nobody here knows whether the commit is kept.
    package func keep(
        _ effects: [UInt8], taking rows: [Int64], claiming claims: [CommitClaim]
    ) throws(LMDBError) -> GateAnswer {
        switch worker.withLock({ $0.keep(effects, taking: rows, claiming: claims) }) {
        case .kept(let number): return .kept(number)
        case .claimed(let others): return .claimed(others)
        case .notKept: throw LMDBError(.notKept, "keep", path: name)
        case .rowsGone: throw LMDBError(.rowsGone, "keep", path: name)
        case .undetermined: throw LMDBError(.copyIsBehind, "keep", path: name)
        }
    }

    /// The log was seen to end at a commit. If that is before the last one that was kept, the database was rolled back, and
    /// nothing more is kept before that is mended.
    ///
    /// - Parameter kept: ``Status/last`` from before the look.
    func sawLog(endingAt last: UInt64, kept: UInt64) {
        guard last < kept else { return }
        if isMended { board.setLacking(true) } else { board.end(.contradicted) }
    }

    /// Whether the log lacks commits that were kept, and a commit waits until it has them. Waits for nothing.
    var isLacking: Bool { board.isLacking }

    /// Calls back each time when that begins.
    func whenLacking(_ body: @escaping @Sendable () -> Void) { board.whenLacking(body) }

    /// The log has all that was kept.
    func mended() { board.setLacking(false) }

    /// Keeps nothing more, for this reason.
    func end(_ ending: GateMachine.Ending) { board.end(ending) }

    /// Keeps nothing more, and ends the waiting of a commit at once.
    package func stop() {
        board.stop()
        interruption.interrupt()
    }

    /// The same, and ends the session, when the commit under way has ended. Whoever still holds the gate, or the environment,
    /// takes no place in the database for it.
    func close() {
        stop()
        worker.withLock { $0.disconnect() }
    }
}
