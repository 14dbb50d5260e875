package import Holdfast
internal import HoldfastJournal
internal import HoldfastPQ

extension HostJournals {
    /// The orders to all journals, for one that is about to carry them out. Where the database went back to before orders that this
    /// journal has carried out, the pauses among them are put back first.
    ///
    /// - Throws: ``JournalError``: with code `closed` when it was stopped.
    package func orders(
        _ stop: OpeningStop, for journal: OwnedJournal
    ) throws(JournalError) -> FleetOrders {
        let orders = try readOrders(stop)
        let done = try journal.journal.note(OrderMark.noteName).flatMap { OrderMark(note: $0) }
        guard let done, orders.wentBack(before: done) else { return orders }
        let kept = try journal.journal.note(KeptPauses.noteName).flatMap { KeptPauses(note: $0) }
        var (back, refused): ([FleetOrder], [FleetOrder]) = ([], [])
        for pause in kept?.missing(in: orders) ?? [] {
            do throws(JournalError) {
                let isBack = try persist(stop) { (connection) throws(PQError) in
                    try OrderCalls(terms.schema).restore(pause, connection, by: .now + terms.answer)
                }
                if isBack { back.append(pause.order) }
            } catch {
                guard !stop.isStopped else { throw error }
                refused.append(pause.order)
            }
        }
        onNews(.ordersLost(journal: journal.name, after: orders.last?.number ?? 0, putBack: back, refused: refused))
        return try readOrders(stop)
    }

    private func readOrders(_ stop: OpeningStop) throws(JournalError) -> FleetOrders {
        try persist(stop) { (connection) throws(PQError) in
            try OrderCalls(terms.schema).read(connection, by: .now + terms.answer)
        }
    }
}
