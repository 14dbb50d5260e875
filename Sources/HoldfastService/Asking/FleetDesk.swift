internal import Holdfast
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
        case .notServed: ControlError(.notServed, failure.description, event: failure.event)
        case .notTaken: ControlError(.notServed, failure.description, event: failure.event)
        case .notAnswered, .unknown: ControlError(.timedOut, failure.description, event: failure.event)
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
