package import Holdfast
internal import HoldfastJournal
internal import HoldfastPQ
package import HoldfastPostgres

/// What a database says to a host that wants to use it: that it may, and which losses it survives.
package struct FleetFacts: Sendable {
    /// The database and its servers, without the password.
    package let place: String
    package let host: String
    package let durability: DatabaseDurability
    /// What an operator should know of the database and its servers, in whole sentences.
    package let warnings: [String]

    /// Asks with ten seconds of patience, and changes nothing.
    ///
    /// - Parameter copies: the directory of the host's working copies, by which a server is known that is older than the one it
    ///   used.
    /// - Throws: ``JournalError`` when it can't be reached, or not be used.
    package init(_ settings: PostgresSettings, copies: String) throws(JournalError) {
        var terms = try settings.terms(JournalOptions())
        let servers = PQServers(seenFrom: copies)
        terms.target.servers = servers
        place = terms.target.description
        host = terms.host
        durability = try terms.examine(by: .now + .seconds(10))
        warnings = durability.warnings + servers.warnings.map(\.description)
    }
}
