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
        if gate.isLacking {
            return .refusing(name, .behind, why: "it has lost commits of the journal, which this host writes back")
        }
        let status = gate.status
        // The lease finds it out within two seconds, and the commit waits for the same.
        if let trouble = lease.obstacle, trouble.kind == .locked {
            return .refusing(name, .locked, why: trouble.words)
        }
        if let trouble = status.trouble { return .refusing(name, trouble.cause.kind, why: trouble.words) }
        if let waiting = status.underWay, waiting.since + patience < .now {
            let seconds = Int((.now - waiting.since).components.seconds)
            return .refusing(
                name, .silent,
                why:
                    "commit \(waiting.number) has waited \(seconds) s for its answer, since a synchronous standby is away, a lock is "
                    + "held, or the connection has died")
        }
        // Where nobody submits, no commit would say that the database is away.
        if lease.epoch != nil, lease.handOutUntil ?? .zero <= clock.monotonic() {
            let trouble = lease.obstacle
            return .refusing(
                name, trouble?.kind ?? .away, why: "the lease is not renewed" + (trouble.map { ": \($0)" } ?? ""))
        }
        return nil
    }

    private var lost: JournalError {
        JournalError(
            .ownershipLost,
            "this host does not have journal \(name) in PostgreSQL any more: another host has taken it and delivers what is in it, or "
                + "the database is another one than before. Nothing is to be done, unless it happens again: then see why this host "
                + "was not heard of for so long")
    }
}
