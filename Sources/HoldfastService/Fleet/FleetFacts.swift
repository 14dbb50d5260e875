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

    /// Asks with ten seconds of patience, and changes nothing.
    ///
    /// - Throws: ``JournalError`` when it can't be reached, or not be used.
    package init(_ settings: PostgresSettings) throws(JournalError) {
        let terms = try settings.terms(JournalOptions())
        place = terms.target.description
        host = terms.host
        durability = try terms.examine(by: .now + .seconds(10))
    }
}
