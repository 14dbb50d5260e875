package import Holdfast
internal import HoldfastControl
package import HoldfastPQ
package import HoldfastPostgres

extension CommandServer {
    /// Answers operators' requests with this desk, as the journal's control socket does.
    ///
    /// - Parameters:
    ///   - directory: the journal's, where whoever asks may read; nil for nowhere.
    ///   - blacklist: the copy of the blacklist that hosts share.
    ///   - orders: what carries the fleet's orders out at this journal.
    func serve(
        _ journal: Int32, epoch: Int64, desk: any FleetOrderDesk, reading directory: String? = nil,
        blacklist: String? = nil, orders: JournalOrders
    ) {
        let reading = directory.map { JournalAnswers(directory: $0, blacklist: blacklist).requests.answer }
        let tunnel = ControlTunnel(desk: desk) { path, body in
            path == OrdersForm.path ? try await orders.answer(body, desk) : try await reading?(path, body)
        }
        serve(journal, epoch: epoch, onOrders: orders.told) { await tunnel.answer($0) }
    }

    /// Answers operators' requests with this desk, as the journal's control socket does, and heeds no orders.
    package func serve(_ journal: Int32, epoch: Int64, desk: any OperatorDesk) {
        let tunnel = ControlTunnel(desk: desk)
        serve(journal, epoch: epoch) { await tunnel.answer($0) }
    }

    /// Serves no journal yet.
    ///
    /// - Throws: `unreachable` when the process has no descriptors left.
    package convenience init(_ terms: Terms) throws(PQError) {
        try self.init(terms) { _ in ControlTunnel.answerTooLate() }
    }
}
