internal import Foundation
package import Holdfast
package import HoldfastPQ

/// Takes what applications submit by SQL into a journal, on a thread of its own with a connection of its own.
///
/// Each row is claimed for the journal, submitted, and deleted by the commit that has its notification. So a row is in the outbox
/// or in the journal's log, whatever is lost in between. What the engine refuses for good becomes an outcome.
package final class OutboxIntake: Sendable {
    package struct Terms: Sendable {
        package var target: PQTarget
        package var schema: SchemaName
        package var journal: Int32
        package var epoch: Int64
        /// Whether rows are claimed that nobody has; else only those that the journal has already. For a journal of a host that
        /// is gone, which is only to be drained.
        package var takesNew: Bool
        /// The most rows of a submission. Two are under way at most.
        package var batch: Int
        /// How many rows that nobody has may be claimed now: none where other hosts are to take them. Asked before each claim, on the
        /// intake's thread.
        package var room: @Sendable () -> Int = { .max }
        /// Whether other hosts are to have the rows that this journal has claimed and does not take now. Asked on the intake's thread.
        package var leavesRefused: @Sendable () -> Bool = { false }
        /// Called on the intake's thread when such rows were claimed.
        package var onClaimed: @Sendable () -> Void = {}
        /// For connecting, and setting the session up.
        package var connecting: Duration
        /// For each call.
        package var answer: Duration
        /// For which rows that were there before the database changed wait at most, until all who owned a journal have said what
        /// they have of it: the time in which a journal may not be taken, and as long again for its owner to open it.
        package var hold = Self.hold
        /// The rows that the journal has taken, as far as it remembers them. Asked for where a row may have been taken before.
        package var takenBefore: @Sendable () throws -> Set<QueueRow> = { [] }
        /// How often what the database had lost of the journal was written back: each time rows come back that it had taken. `nil`
        /// while that is to be done: until then no row is ended, since the log may lack the commit that has taken it.
        package var restorations: @Sendable () -> Int? = { 0 }
        /// Called on the intake's thread for rows that may have been sent before: those that end as unknown, and those that are
        /// sent again.
        package var onDoubt: @Sendable (_ unknown: Int, _ again: Int) -> Void = { _, _ in }

        package static let hold = Duration.seconds(20)

        package init(
            target: PQTarget, schema: SchemaName = .standard, journal: Int32, epoch: Int64, takesNew: Bool = true,
            batch: Int = 1000, connecting: Duration = .seconds(5), answer: Duration = .seconds(30)
        ) {
            self.target = target
            self.schema = schema
            self.journal = journal
            self.epoch = epoch
            self.takesNew = takesNew
            self.batch = batch
            self.connecting = connecting
            self.answer = answer
        }
    }

    /// Why nothing more is taken.
    package enum Ending: Hashable, Sendable {
        /// Another host has taken the journal.
        case ownershipLost
        /// The journal must be reopened, and the next intake finds out what became of the rows.
        case journalFailed
        /// All that the journal had claimed is taken, and no more is wanted.
        case drained
        case stopped
    }

    package struct Status: Sendable {
        /// Rows that the journal has taken since the start, repeats included.
        package internal(set) var taken = 0
        /// Rows that were told as rejected.
        package internal(set) var rejected = 0
        /// Rows that ended as unknown, since they may have been sent before.
        package internal(set) var unknown = 0
        /// Rows that were taken though they may have been sent before.
        package internal(set) var possiblyTwice = 0
        /// Rows that are claimed, and not taken yet.
        package internal(set) var inHand = 0
        /// Why nothing is taken at the moment.
        package internal(set) var trouble: String?
        /// Whether that is the journal on this host, and not the database.
        package internal(set) var isOfJournal = false
        package internal(set) var ending: Ending?
    }

    private let board = OutboxBoard()
    private let interruption: PQInterruption

    /// Begins.
    ///
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(_ terms: Terms, into receiver: any OutboxReceiver) throws(PQError) {
        interruption = try PQInterruption()
        let thread = Thread { [board, interruption] in
            var worker = OutboxWorker(terms, receiver, board, interruption)
            worker.run()
        }
        thread.name = "holdfast-outbox"
        thread.start()
    }

    package var status: Status { board.status }

    /// Claims nothing more, waits for what is under way, and lets other hosts have the rest. Call it before the engine is shut
    /// down, or before the journal is given up.
    ///
    /// - Parameter time: after which nothing is waited for any more. What is claimed then is the journal's next owner's.
    package func stop(within time: Duration) {
        board.stop()
        if !board.waitForEnd(time) {
            interruption.interrupt()
            _ = board.waitForEnd(.seconds(60))
        }
    }
}
