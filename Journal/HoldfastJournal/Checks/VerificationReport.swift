/// The findings of a look at every byte of a journal's files.
package struct VerificationReport: Sendable {
    /// The limit on the length of ``damage``.
    package static let greatestListed = 1000

    /// The journal's directory.
    package internal(set) var directory: String
    /// The process that uses the journal, for people; `nil` when it was at rest.
    package internal(set) var owner: String?
    /// The first ``greatestListed`` faults.
    package internal(set) var damage: [JournalDamage] = []
    /// The number of all faults.
    package internal(set) var damageCount = 0
    /// Pages of the trees, of both files.
    package internal(set) var pages = 0
    /// Rows of each table that was found.
    package internal(set) var rows: [String: Int] = [:]
    /// Rows that are sealed, by the id of the key; empty for a journal that is not sealed.
    package internal(set) var sealed: [String: Int] = [:]
    /// Whether the journal is sealed.
    package internal(set) var sealing = JournalSealing.clear
    /// Findings that are no damage, but that an operator should know.
    package internal(set) var remarks: [String] = []

    /// Whether there is no fault.
    package var isSound: Bool { damageCount == 0 }

    init(directory: String, owner: String?) {
        self.directory = directory
        self.owner = owner
    }

    mutating func add(_ damage: JournalDamage) {
        damageCount += 1
        if self.damage.count < Self.greatestListed { self.damage.append(damage) }
    }
}
