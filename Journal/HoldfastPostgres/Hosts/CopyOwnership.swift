internal import Holdfast
internal import HoldfastJournal

/// What a lease and a gate say to the journal over them.
struct CopyOwnership: JournalOwnership {
    let name: String
    let lease: JournalLease
    let gate: PostgresGate
    /// The lease's.
    let clock: EngineClock
    /// After which a commit that is under way says that the database is away, though no call has failed yet.
    var patience = Duration.seconds(5)

    /// Not at all, while nobody knows whether this host is the owner, or while the database lacks what it has.
    var handOutUntil: Duration? { gate.isLacking ? .zero : lease.handOutUntil ?? .zero }

    var ending: JournalError? {
        if lease.phase == .lost { return lost }
        return switch gate.status.ending {
        case nil: nil
        case .ownershipLost: lost
        case .contradicted:
            JournalError(
                .contradicted,
                "journal \(name) in PostgreSQL has other commits than this host has kept there: was the database rolled back, "
                    + "or a standby promoted that lacked them? The journal is opened anew, and compared")
        case .stopped: JournalError(.closed, "journal \(name) in PostgreSQL is closed")
        }
    }

    var refusal: JournalError? {
        if gate.isLacking { return unreachable("it has lost commits of the journal, which this host writes back") }
        let status = gate.status
        if let trouble = status.trouble { return unreachable(trouble.words) }
        if let waiting = status.underWay, waiting.since + patience < .now {
            return unreachable("commit \(waiting.number) waits for its answer")
        }
        // Where nobody submits, no commit would say that the database is away.
        if lease.epoch != nil, lease.handOutUntil ?? .zero <= clock.monotonic() {
            return unreachable("the lease is not renewed" + (lease.trouble.map { ": \($0)" } ?? ""))
        }
        return nil
    }

    private var lost: JournalError {
        JournalError(
            .ownershipLost,
            "another host has taken journal \(name) in PostgreSQL, and delivers what is in it. Nothing is to be done, unless it "
                + "happens again: then see why this host was not heard of for so long")
    }

    private func unreachable(_ why: String) -> JournalError {
        JournalError(
            .unreachable,
            "PostgreSQL, which keeps journal \(name), can't be reached now. Nothing was taken, and it is tried for ever: \(why)"
        )
    }
}
