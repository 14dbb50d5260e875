internal import Foundation
package import Holdfast
package import HoldfastPQ

/// The ownership of a journal in PostgreSQL, taken and held by a thread with a connection of its own.
///
/// One lease is for one ownership: one that was lost is never found again, and another lease must be begun. While the database
/// is away, the lease goes on trying for ever. The thread ends when the lease is lost or released.
package final class JournalLease: Sendable {
    package struct Terms: Sendable {
        package var target: PQTarget
        package var schema: SchemaName
        /// The number of the journal, which exists.
        package var journal: Int32
        /// The name of this host, for people.
        package var host: String
        package var times: LeaseTimes
        /// Only its monotonic time is used, which must go on while the machine sleeps.
        package var clock: EngineClock
        /// An epoch whose owner is known to be gone, since it was a process of this machine: the journal is taken at once.
        package var formerEpoch: Int64?
        /// The last commit of the copy that this host has, where that is ahead of the database; else 0. Claimed again at each look,
        /// since a claim ends with its host.
        package var claim: UInt64 = 0
        /// The ownership that somebody took for this lease; `nil` to seek it.
        package var taken: Taken?

        package init(
            target: PQTarget, schema: SchemaName = .standard, journal: Int32, host: String,
            times: LeaseTimes = LeaseTimes(), clock: EngineClock = .system
        ) {
            self.target = target
            self.schema = schema
            self.journal = journal
            self.host = host
            self.times = times
            self.clock = clock
        }
    }

    /// A journal that was taken.
    package struct Taken: Sendable {
        package let epoch: Int64
        /// When the call was sent by which it was taken, by the clock of the terms.
        package let sent: Duration

        package init(epoch: Int64, sent: Duration) {
            self.epoch = epoch
            self.sent = sent
        }
    }

    package enum Phase: Hashable, Sendable {
        /// Another host owns the journal, or the database can't be reached.
        case seeking
        case held(epoch: Int64)
        /// Another host has taken the journal.
        case lost
        /// Given up, and free for others.
        case released
        /// Given up before it was held, or without the database: then others must wait as for a host that is gone.
        case abandoned
    }

    private let board = LeaseBoard()
    private let interruption: PQInterruption

    /// Begins to seek the journal.
    ///
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(_ terms: Terms) throws(PQError) {
        interruption = try PQInterruption()
        let thread = Thread { [board, interruption] in
            var worker = LeaseWorker(terms, board, interruption)
            worker.run()
        }
        thread.name = "holdfast-lease"
        thread.start()
    }

    package var phase: Phase { board.phase }

    /// Why the last try failed; `nil` after one that did not.
    package var trouble: String? { board.trouble?.words }

    /// The same, with its kind.
    var obstacle: DatabaseTrouble? { board.trouble }

    /// The instant of the clock's monotonic time before which entries may be handed out; `nil` for not at all. Waits for
    /// nothing, and may be asked for every entry.
    ///
    /// After the instant it is not known whether this host is the owner, and it may become known again.
    package var handOutUntil: Duration? { board.handOutUntil }

    /// How often the lease had run out when it was renewed.
    package var lapses: Int { board.lapses }

    /// Waits until the journal is held, or the lease is over.
    ///
    /// - Returns: whether that was in time.
    package func waitToHold(_ time: Duration) -> Bool { board.waitToHold(time) }

    /// The epoch of the ownership while it is held.
    package var epoch: Int64? {
        guard case .held(let epoch) = phase else { return nil }
        return epoch
    }

    /// Hands nothing out from now on, and lets others have the journal at once.
    ///
    /// - Parameters:
    ///   - time: after which the database is not waited for any more.
    ///   - isClosed: whether nobody is to take the journal but whoever wants to accept into it.
    /// - Returns: how the lease ended.
    @discardableResult
    package func release(within time: Duration, closing isClosed: Bool = false) -> Phase {
        board.giveUp(closing: isClosed)
        waitForEnd(time)
        return board.phase
    }

    /// Hands nothing out from now on, and lets nobody have the journal before a lease's time is over: for an owner that comes
    /// back at once.
    package func leave(within time: Duration) {
        board.giveUp(closing: false, leaving: true)
        waitForEnd(time)
    }

    private func waitForEnd(_ time: Duration) {
        if !board.waitForEnd(time) {
            interruption.interrupt()
            _ = board.waitForEnd(.seconds(60))
        }
    }
}
