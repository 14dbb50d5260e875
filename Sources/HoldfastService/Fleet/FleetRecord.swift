package import Holdfast
internal import HoldfastPostgres

/// What has befallen a host's journals in their database since its process began, however often they were opened meanwhile.
package final class FleetRecord: Sendable {
    private let clock: EngineClock
    private let found = Monitor<[HealthCondition]>([])

    package init(clock: EngineClock = .system) { self.clock = clock }

    /// The last of each kind and journal.
    var conditions: [HealthCondition] { found.withLock { $0 } }

    /// - Parameter news: of which nothing is kept if it only tells how an opening goes.
    func take(_ news: HostNews) {
        guard let next = condition(of: news) else { return }
        found.withLock { found in
            found.removeAll { ($0.kind, $0.subject) == (next.kind, next.subject) }
            found.append(next)
        }
    }

    private func condition(of news: HostNews) -> HealthCondition? {
        let now = clock.wall()
        switch news {
        case .away, .waiting, .goesOn: return nil
        case .restored(let journal, let first, let last):
            return HealthCondition(
                .commitsLost, .warning, "journal", journal, since: now,
                what:
                    "The database had lost commits \(first + 1) to \(last) of journal \(journal), and has them again from this "
                    + "host's copy: nothing of this journal is lost",
                next:
                    "see whether a standby was promoted that lacked them, or a backup restored: journals of hosts that are gone may "
                    + "have lost some", command: "holdfast postgres status")
        case .setAside(let journal, let copy, .foreign):
            return setAside(
                .warning, journal, copy, now,
                what:
                    "\(copy) is a copy of journal \(journal) of another database, or of one that this database does not have: it "
                    + "is kept, and nothing of it is used",
                next:
                    "see what waits in it. If that other database delivers it, or nothing is missed, remove it while the service is "
                    + "stopped")
        case .setAside(let journal, let copy, .apart(let last, let log)):
            return setAside(
                .fault, journal, copy, now,
                what:
                    "The database had lost commits of journal \(journal), and others have gone on from what it has: it ends with "
                    + "commit \(log), and \(copy) with commit \(last) of another line. The journal goes on as the database has it, "
                    + "and the copy is kept", next: "see what waits in the copy, and submit again what is missed")
        case .inDoubt(let journal, let loss):
            return HealthCondition(
                .commitsLost, .fault, "journal", journal, since: now,
                what: """
                    Notifications of journal \(journal) may be LOST: its host was lost, and nobody who is there knows whether the \
                    database has all of its commits. What that host accepted \(loss.words) may be in no journal, at-least-once as \
                    well as at-most-once: then it is not sent again, and no outcome is told. What the database has may have been \
                    sent: at-most-once, it is not sent and ends as unknown; at-least-once, it is sent, and may arrive twice
                    """,
                next: """
                    find what is missing: compare what senders have logged as accepted in that time with what `holdfast journal \
                    find --fleet --apns-id ID` finds, and submit it again; it may have been sent before. See which server was \
                    promoted, or which backup was restored: another one, or the lost host's journal.path, may have more
                    """, command: "holdfast postgres status")
        case .ordersLost(let journal, let number, let back, let refused):
            let lost = LostOrders(journal, after: number, putBack: back, refused: refused)
            return HealthCondition(
                .ordersLost, lost.isComplete ? .warning : .fault, "journal", journal, since: now, what: lost.words,
                next:
                    "look at what the fleet has paused, here and with `holdfast tags list --fleet`, and resume what is to go",
                command: "holdfast lanes list --fleet")
        }
    }

    private func setAside(
        _ severity: HealthCondition.Severity, _ journal: String, _ copy: String, _ now: WallTime, what: String,
        next: String
    ) -> HealthCondition {
        HealthCondition(
            .copySetAside, severity, "journal", journal, since: now, what: what, next: next,
            command: "holdfast journal status --journal \(ShellText.word(copy))")
    }
}
