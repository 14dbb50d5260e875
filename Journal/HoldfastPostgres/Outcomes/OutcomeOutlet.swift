internal import Foundation
package import Holdfast
package import HoldfastPQ

/// Tells applications how what they submitted by SQL ended, in a table of the database, on a thread of its own with a connection
/// of its own.
///
/// Each outcome is put once: the cursor of the journal is in the database, and moves in the transaction that puts them. Those that
/// the history deletes before they are put are lost, and counted.
package final class OutcomeOutlet: Sendable {
    package struct Terms: Sendable {
        package var target: PQTarget
        package var schema: SchemaName
        package var journal: Int32
        package var epoch: Int64
        /// Whether the outcomes of notifications are told, too, that came in another way.
        package var tellsAll: Bool
        /// For how long outcomes wait to be taken, and while how many others come.
        package var keeps: (age: Duration, count: Int)
        package var connecting: Duration
        package var answer: Duration
        /// Whether the database lacks commits of the journal, which its owner has yet to write back: nothing is put meanwhile.
        package var isLacking: @Sendable () -> Bool = { false }
        /// Told how far outcomes are put, or not to be told: those behind it are still needed. An earlier one than before where the
        /// database went back in time.
        package var onTold: @Sendable (OutcomeCursor) -> Void = { _ in }
        /// Told the number of outcomes, of all notifications, that were deleted or unreadable before they could be put.
        package var onMissed: @Sendable (Int) -> Void = { _ in }

        package init(
            target: PQTarget, schema: SchemaName = .standard, journal: Int32, epoch: Int64, tellsAll: Bool = false,
            keeps: (age: Duration, count: Int) = (.seconds(7 * 86_400), 10_000_000),
            connecting: Duration = .seconds(5), answer: Duration = .seconds(30)
        ) {
            self.target = target
            self.schema = schema
            self.journal = journal
            self.epoch = epoch
            self.tellsAll = tellsAll
            self.keeps = keeps
            self.connecting = connecting
            self.answer = answer
        }
    }

    package struct Status: Sendable {
        /// Outcomes that were put since the start.
        package internal(set) var put = 0
        /// Outcomes, of all notifications, that were deleted or unreadable before they could be put.
        package internal(set) var missed = 0
        /// Outcomes that nobody took in time, and that were removed by this outlet.
        package internal(set) var trimmed = 0
        /// Whether the engine keeps a history; without one there are no outcomes to put.
        package internal(set) var isHistoryKept = true
        /// Everything up to here is put, or not to be told. The place in the database may be an earlier one.
        package internal(set) var cursor = OutcomeCursor.start
        package internal(set) var trouble: String?
        /// Another host has taken the journal: nothing more is put.
        package internal(set) var isOwnershipLost = false
    }

    private let board = OutcomeBoard()
    private let interruption: PQInterruption

    /// Begins.
    ///
    /// - Parameter log: of the journal that is owned, such as ``PushEngine/outcomeReading``.
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(_ terms: Terms, of log: OutcomeLogReading) throws(PQError) {
        interruption = try PQInterruption()
        let thread = Thread { [board, interruption] in
            var worker = OutcomeWorker(terms, log, board, interruption)
            worker.run()
        }
        thread.name = "holdfast-outcomes"
        thread.start()
    }

    package var status: Status { board.status }

    /// Puts what there is, and ends. Call it after the engine has ended, and before its journal is closed.
    ///
    /// - Parameter time: after which the database is not waited for any more. What was not put is the next owner's.
    package func stop(within time: Duration) {
        board.stop()
        if !board.waitForEnd(time) {
            interruption.interrupt()
            _ = board.waitForEnd(.seconds(60))
        }
    }
}
