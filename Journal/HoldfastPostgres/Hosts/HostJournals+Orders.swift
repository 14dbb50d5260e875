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
        guard var lost = try LostPauses(of: journal.journal, lackedBy: orders) else { return orders }
        try persist(stop) { (connection) throws(PQError) in
            try lost.putBack(OrderCalls(terms.schema), connection, answer: terms.answer)
        }
        onNews(lost.news(of: journal.name))
        return try readOrders(stop)
    }

    private func readOrders(_ stop: OpeningStop) throws(JournalError) -> FleetOrders {
        try persist(stop) { (connection) throws(PQError) in
            try OrderCalls(terms.schema).read(connection, by: .now + terms.answer)
        }
    }
}

extension LostPauses {
    /// What is told once all were tried.
    func news(of journal: String) -> HostNews {
        .ordersLost(journal: journal, after: after, putBack: back, refused: refused)
    }
}
