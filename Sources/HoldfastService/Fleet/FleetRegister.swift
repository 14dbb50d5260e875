package import Holdfast
package import HoldfastControl
internal import HoldfastJournal
package import HoldfastPostgres

/// The journals of a fleet, for tools: the list that its database has, and the way to each one's owner. An operator's rights
/// suffice, and nothing has to run on this machine.
package struct FleetRegister: Sendable {
    private let terms: HostTerms

    /// - Throws: ``JournalError`` for settings that can't be used.
    package init(_ settings: PostgresSettings) throws(JournalError) { terms = try settings.terms(JournalOptions()) }

    /// All journals, by their numbers. Blocks.
    ///
    /// - Parameter timeout: of the database.
    /// - Throws: ``JournalError`` when the database can't be reached, or this role may not ask.
    package func listNow(timeout: Duration = .seconds(10)) throws(JournalError) -> [ListedJournal] {
        try terms.journals(by: .now + timeout)
    }

    /// All journals, by their numbers.
    ///
    /// - Throws: ``JournalError`` when the database can't be reached, or this role may not ask.
    package func list() async throws(JournalError) -> [ListedJournal] {
        try await FleetPlace.onThread("holdfast-list") { () throws(JournalError) in try listNow() }
    }

    /// The desk of the owner of a journal, whichever host that is.
    ///
    /// - Parameter timeout: how long the owner may take for each request.
    /// - Throws: as ``FleetDesk/open(_:_:journalNamed:patience:)``. Where there is no such journal, the error names those that
    ///   there are.
    package func open(_ journal: String, timeout: Duration) async throws -> RemoteDesk {
        do {
            return try await FleetDesk.open(
                terms.target, terms.schema, journalNamed: journal, patience: timeout)
        } catch let error as JournalError where error.code == .notFound {
            let names = try await list().map(\.name)
            let words = names.isEmpty ? "it has none yet" : "it has \(names.joined(separator: ", "))"
            throw JournalError(.notFound, "the database has no journal \(journal): \(words)")
        }
    }
}
