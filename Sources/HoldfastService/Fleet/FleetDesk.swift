package import Holdfast
package import HoldfastControl
package import HoldfastPQ
package import HoldfastPostgres

/// The desk of a journal that hosts share: its owner is asked by way of the database, whichever host that is.
package enum FleetDesk {
    /// Asks the owner who it is, and gives the desk. Its ``RemoteDesk/owner`` names the process and the host.
    ///
    /// - Parameters:
    ///   - journal: the name of the journal in the database.
    ///   - patience: how long the owner may take for each request.
    /// - Throws: `JournalError` with code `notFound` where there is no such journal; ``ControlError``, with code `notServed` when
    ///   no owner took the request, so that nothing was done.
    package static func open(
        _ target: PQTarget, _ schema: SchemaName = .standard, journalNamed journal: String,
        patience: Duration = .seconds(30)
    ) async throws -> RemoteDesk {
        let client: CommandClient
        do throws(PQError) {
            client = try CommandClient(
                CommandClient.Terms(target: target, schema: schema, journal: journal, patience: patience))
        } catch {
            throw ControlError(.failed, error.description)
        }
        return try await RemoteDesk(
            through: { request in
                do {
                    let reply = try await client.ask(request)
                    return ("\(reply.host), journal \(journal)", reply.bytes)
                } catch let failure as CommandFailure {
                    throw explain(failure)
                }
            }, close: { client.close() })
    }

    private static func explain(_ failure: CommandFailure) -> any Error {
        switch failure {
        case .noJournal: JournalError(.notFound, failure.description)
        case .notTaken: ControlError(.notServed, failure.description)
        case .notAnswered, .unknown: ControlError(.timedOut, failure.description)
        case .notAsked(_, let error) where error.sqlState == CommandCalls.busyState:
            ControlError(.busy, failure.description)
        case .notAsked(_, let error) where error.kind == .unreachable:
            JournalError(.unreachable, failure.description)
        case .notAsked(_, let error) where error.sqlState == "42501" || error.sqlState?.hasPrefix("28") ?? false:
            JournalError(
                .permissionDenied,
                "\(failure): have the schema's owner run `holdfast postgres migrate --operators` with this role")
        case .notAsked: ControlError(.failed, failure.description)
        }
    }
}

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
        let reading = Self.reading(directory, blacklist)
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

    private static func reading(_ directory: String?, _ blacklist: String?) -> ControlTunnel.Further? {
        guard let directory else { return nil }
        let answers = JournalAnswers(directory: directory, blacklist: blacklist)
        return { path, body in
            try await FleetPlace.onThread("holdfast-reading") { () throws(any Error) in try answers.answer(path, body) }
        }
    }

    /// Serves no journal yet.
    ///
    /// - Throws: `unreachable` when the process has no descriptors left.
    package convenience init(_ terms: Terms) throws(PQError) {
        try self.init(terms) { _ in ControlTunnel.answerTooLate() }
    }
}
