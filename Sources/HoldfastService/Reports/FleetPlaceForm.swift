package import HoldfastPostgres

/// A journal of the fleet, and the host that has it.
package struct FleetPlaceForm: Codable, Hashable, Sendable {
    package var journal: String
    package var host: String?

    package init(_ journal: ListedJournal) { (self.journal, host) = (journal.name, journal.host) }
}
