package import Holdfast
internal import HoldfastPQ

/// What an operator's rights suffice for. Each call connects.
extension HostTerms {
    /// Lists all journals of the fleet.
    package func journals(by deadline: ContinuousClock.Instant) throws(JournalError) -> [ListedJournal] {
        try asOperator(by: deadline) { (connection) throws(PQError) in
            try OwnershipCalls(schema).list(connection, by: deadline)
        }
    }

    /// The ones of `journals` that no host serves and none takes over.
    package func closed(
        among journals: [ListedJournal], by deadline: ContinuousClock.Instant
    ) throws(JournalError) -> [ClosedJournal] {
        let unserved = journals.filter(\.isUnserved)
        guard !unserved.isEmpty else { return [] }
        let (seconds, losses) = try asOperator(by: deadline) {
            (connection) throws(PQError) -> ([Int32: Int], [Int32: LossWindow]) in
            let calls = OwnershipCalls(schema)
            let seconds = try calls.releasesIfAllowed(connection, by: deadline)
            return (seconds, try calls.lossesIfAllowed(connection, by: deadline))
        }
        return unserved.map { ClosedJournal($0, seconds: seconds[$0.id], loss: losses[$0.id]) }
    }

    /// The orders to all journals.
    package func orders(by deadline: ContinuousClock.Instant) throws(JournalError) -> FleetOrders {
        try asOperator(by: deadline) { (connection) throws(PQError) in
            try OrderCalls(schema).read(connection, by: deadline)
        }
    }

    /// The orders to all journals, and for how many seconds journals without an owner have had none.
    package func standing(
        by deadline: ContinuousClock.Instant
    ) throws(JournalError) -> (orders: FleetOrders, releases: [Int32: Int]) {
        try asOperator(by: deadline) { (connection) throws(PQError) in
            (
                try OrderCalls(schema).read(connection, by: deadline),
                try OwnershipCalls(schema).releases(connection, by: deadline)
            )
        }
    }

    /// Gives an order to all journals. Where it is not known whether the database has it, it is given again.
    ///
    /// - Parameter who: for people.
    /// - Returns: the order's number, and how many pauses it has replaced.
    /// - Throws: ``JournalError``: with code `invalidEntry` for one too many.
    package func order(
        _ subject: FleetOrder.Subject, pausing: Bool, reason: String, who: String, by deadline: ContinuousClock.Instant
    ) throws(JournalError) -> (number: Int64, ended: Int64) {
        try asOperator(by: deadline) { (connection) throws(PQError) in
            try OrderCalls(schema).give(
                subject, pausing: pausing, reason: reason, who: who, connection, by: deadline)
        }
    }

    /// Takes an order back that was about nothing.
    package func withdrawOrder(_ number: Int64, by deadline: ContinuousClock.Instant) throws(JournalError) {
        try asOperator(by: deadline) { (connection) throws(PQError) in
            try OrderCalls(schema).withdraw(number, connection, by: deadline)
        }
    }

    /// Makes a call that may be made twice.
    private func asOperator<R>(
        by deadline: ContinuousClock.Instant, _ call: (PQConnection) throws(PQError) -> R
    ) throws(JournalError) -> R {
        do throws(PQError) {
            do throws(PQError) { return try once(by: deadline, call) } catch {
                // Without time it would fail at once, and what is not known would seem to be known.
                guard error.kind == .inDoubt, deadline > .now else { throw error }
                return try once(by: deadline, call)
            }
        } catch {
            switch error.sqlState {
            case "42501" where error.advice == nil:
                throw JournalError(
                    .permissionDenied,
                    "\(error), so the fleet can't be asked: have the schema's owner run `holdfast postgres migrate --operators` "
                        + "with this role, once more if it was granted before")
            case OrderCalls.tooManyState:
                throw JournalError(.invalidEntry, "\(error.server?.message ?? "\(error)"): resume one of them first")
            default: throw JournalError(error)
            }
        }
    }

    private func once<R>(
        by deadline: ContinuousClock.Instant, _ call: (PQConnection) throws(PQError) -> R
    ) throws(PQError) -> R {
        let connection = try ServiceConnection.open(
            target, schema, name: "holdfast operator", by: deadline, PQInterruption(),
            lockPatience: LockPatience.command)
        defer { connection.close() }
        return try call(connection)
    }
}
