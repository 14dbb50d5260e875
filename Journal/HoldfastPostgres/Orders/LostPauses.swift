internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPQ

/// The fleet's pauses that a journal has carried out, and a database that went back in time lacks. They are put back, so that
/// journals that come later know of them.
struct LostPauses {
    private var waiting: [KeptPauses.Pause]
    /// The newest order that the database has.
    let after: Int64
    private(set) var back: [FleetOrder] = []
    private(set) var refused: [FleetOrder] = []

    /// - Returns: nil where the database has all orders that the journal has carried out.
    init?(of journal: LMDBJournal, lackedBy orders: FleetOrders) throws(JournalError) {
        let done = try journal.note(OrderMark.noteName).flatMap { OrderMark(note: $0) }
        guard let done, orders.wentBack(before: done) else { return nil }
        waiting = try journal.note(KeptPauses.noteName).flatMap { KeptPauses(note: $0) }?.missing(in: orders) ?? []
        after = orders.last?.number ?? 0
    }

    /// May be called again after an error, and goes on then. What the database refuses is told, and holds up none of the others.
    mutating func putBack(
        _ calls: OrderCalls, _ connection: PQConnection, answer: Duration
    ) throws(PQError) {
        while let pause = waiting.first {
            do throws(PQError) {
                if try calls.restore(pause, connection, by: .now + answer) { back.append(pause.order) }
            } catch {
                guard !error.mayPass else { throw error }
                refused.append(pause.order)
            }
            waiting.removeFirst()
        }
    }
}
