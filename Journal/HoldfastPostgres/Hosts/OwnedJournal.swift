internal import Foundation
package import Holdfast
package import HoldfastJournal

/// A journal that this host owns: its lease, the way of its commits, and the working copy behind them.
package final class OwnedJournal: Sendable {
    package let id: Int32
    package let name: String
    package let epoch: Int64
    package let directory: String
    package let journal: LMDBJournal
    private let lease: JournalLease
    private let gate: PostgresGate
    private let ownership: CopyOwnership
    private let upkeep: Upkeep
    private let closing: Duration

    init(
        _ place: ListedName, _ journal: LMDBJournal, _ lease: JournalLease, _ gate: PostgresGate,
        _ ownership: CopyOwnership, _ upkeep: Upkeep, epoch: Int64, closing: Duration
    ) {
        id = place.id
        name = place.name
        self.epoch = epoch
        directory = journal.directory
        self.journal = journal
        self.lease = lease
        self.gate = gate
        self.ownership = ownership
        self.upkeep = upkeep
        self.closing = closing
    }

    /// Why the journal can't be gone on with; `nil` while it can.
    package var ending: JournalError? { ownership.ending }

    /// Whether nothing is left: to be delivered, to be told of, or to be looked at by somebody. As of the last commit.
    package var isDrained: Bool {
        do throws(JournalError) {
            return try journal.status().unconfirmed == 0 && journal.quarantinedCount == 0 && journal.asideCount == 0
                && journal.unreadOutcomeCount == 0
        } catch {
            // It fails, and is looked at by whoever has it next.
            return false
        }
    }

    /// How often what the database had lost was written back since the journal was opened; `nil` while that is to be done.
    package var restorations: Int? { gate.isLacking ? nil : gate.status.mendings }

    /// The reason why appends are refused for want of room; `nil` while there is room.
    package var wantOfRoom: JournalError? { journal.wantOfRoom }

    /// Why nothing can be kept now; `nil` where it can.
    package var refusal: JournalError? { ownership.refusal }

    /// What is in the way now, for operators: of the lease, of commits, and of checkpoints.
    package var troubles: Troubles {
        var troubles = Troubles(lease: lease.trouble, upkeep: upkeep.trouble)
        if let trouble = gate.status.trouble {
            let since = Int((.now - trouble.since).components.seconds)
            troubles.commits = "since \(since) s: \(trouble.words)"
        } else if let waiting = gate.status.underWay, waiting.since + ownership.patience < .now {
            troubles.commits = "number \(waiting.number) since \(Int((.now - waiting.since).components.seconds)) s"
        }
        return troubles
    }

    /// Why something is not done now; `nil` for what is.
    package struct Troubles: Hashable, Sendable {
        package var commits: String?
        package var lease: String?
        package var upkeep: String?
    }

    /// Writes what waits, as long as the database is there, and lets others have the journal at once.
    ///
    /// Where nothing is left, it is closed for all but those who want to accept into it.
    ///
    /// - Returns: whether nothing was left.
    @discardableResult
    package func close() -> Bool {
        let isDrained = isDrained
        upkeep.end()
        // A commit waits for ever otherwise.
        let limit = Thread { [gate, closing, upkeep] in
            if !upkeep.waitForClosing(closing) { gate.stop() }
        }
        limit.name = "holdfast-close"
        limit.start()
        journal.close()
        upkeep.closed()
        let isContradicted = gate.status.ending == .contradicted || gate.isLacking
        gate.close()
        // This host's copy has what the database lacks. Another host that took the journal now would send it again.
        if isContradicted {
            lease.leave(within: closing)
            return false
        }
        lease.release(within: closing, closing: isDrained)
        return isDrained
    }
}

/// The number of a journal, and its name.
struct ListedName: Sendable {
    let id: Int32
    let name: String
}
