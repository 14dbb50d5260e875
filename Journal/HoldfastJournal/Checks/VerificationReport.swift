/// What a look at every byte of a journal's files has found.
public struct VerificationReport: Sendable {
    /// The most that ``damage`` lists.
    public static let greatestListed = 1000

    public internal(set) var directory: String
    /// Who is using the journal, for people; nil when it was at rest.
    public internal(set) var owner: String?
    /// The first ``greatestListed`` that were found.
    public internal(set) var damage: [JournalDamage] = []
    /// All that were found.
    public internal(set) var damageCount = 0
    /// Pages of the trees, of both files.
    public internal(set) var pages = 0
    /// Rows of each table that was found.
    public internal(set) var rows: [String: Int] = [:]
    /// What is no damage, but should be known.
    public internal(set) var remarks: [String] = []

    /// Whether nothing is wrong with anything that is ever read.
    public var isSound: Bool { damageCount == 0 }

    init(directory: String, owner: String?) {
        self.directory = directory
        self.owner = owner
    }

    mutating func add(_ damage: JournalDamage) {
        damageCount += 1
        if self.damage.count < Self.greatestListed { self.damage.append(damage) }
    }
}
