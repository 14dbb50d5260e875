internal import Foundation
package import Holdfast
package import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPQ
internal import HoldfastPlatform
package import HoldfastPostgres

/// The journals of a fleet, for tools: the list that its database has, and the way to each one's owner. An operator's rights
/// suffice, and nothing has to run on this machine.
package struct FleetRegister: Sendable {
    private let terms: HostTerms

    /// - Parameter onNews: told what is wrong with the database's servers, such as an old primary that is passed over.
    /// - Throws: ``JournalError`` for settings that can't be used.
    package init(
        _ settings: PostgresSettings, onNews: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(JournalError) {
        var terms = try settings.terms(JournalOptions())
        terms.target.servers = PQServers(onNews: { onNews($0.description) })
        self.terms = terms
    }

    package init(_ terms: HostTerms) { self.terms = terms }

    /// The name of this machine in the fleet.
    package var host: String { terms.host }

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
        try await OwnThread.run("holdfast-list") { () throws(JournalError) in try listNow() }
    }

    /// Those of these journals that nobody serves, and that nobody takes over.
    ///
    /// - Throws: ``JournalError`` when the database can't be reached, or this role may not ask.
    package func closed(
        among journals: [ListedJournal], timeout: Duration = .seconds(10)
    ) async throws(JournalError) -> [ClosedJournal] {
        try await OwnThread.run("holdfast-list") { () throws(JournalError) in
            try terms.closed(among: journals, by: .now + timeout)
        }
    }

    /// The orders to all journals.
    ///
    /// - Throws: ``JournalError`` when the database can't be reached, or this role may not ask.
    package func orders(timeout: Duration = .seconds(10)) async throws(JournalError) -> FleetOrders {
        try await OwnThread.run("holdfast-orders") { () throws(JournalError) in
            try terms.orders(by: .now + timeout)
        }
    }

    /// The orders to all journals, and for how many seconds journals without an owner have had none.
    ///
    /// - Throws: ``JournalError`` when the database can't be reached, or this role may not ask.
    package func standing(
        timeout: Duration = .seconds(10)
    ) async throws(JournalError) -> (orders: FleetOrders, releases: [Int32: Int]) {
        try await OwnThread.run("holdfast-orders") { () throws(JournalError) in
            try terms.standing(by: .now + timeout)
        }
    }

    /// Gives an order to all journals, also to those that come later. On return the database has it.
    ///
    /// - Parameter who: gives it, for people.
    /// - Returns: the order's number, and how many pauses it has replaced.
    /// - Throws: ``JournalError``: with code `invalidEntry` for one too many.
    package func order(
        _ subject: FleetOrder.Subject, pausing: Bool, reason: String, who: String, timeout: Duration = .seconds(10)
    ) async throws(JournalError) -> (number: Int64, ended: Int64) {
        try await OwnThread.run("holdfast-orders") { () throws(JournalError) in
            try terms.order(subject, pausing: pausing, reason: reason, who: who, by: .now + timeout)
        }
    }

    /// Takes an order back that was about nothing.
    ///
    /// - Throws: ``JournalError`` when the database can't be reached, or this role may not ask.
    package func withdrawOrder(_ number: Int64, timeout: Duration = .seconds(10)) async throws(JournalError) {
        try await OwnThread.run("holdfast-orders") { () throws(JournalError) in
            try terms.withdrawOrder(number, by: .now + timeout)
        }
    }

    /// Who asks from this process, for people: its user, and the machine.
    package var user: String {
        // Empty for a number without a name, as containers have it.
        let name = ProcessInfo.processInfo.userName
        return "\(name.isEmpty ? "user \(geteuid())" : name) on \(terms.host)"
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
