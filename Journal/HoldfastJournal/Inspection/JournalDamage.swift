public import Holdfast

/// One thing that is wrong with a journal's files.
public struct JournalDamage: Hashable, Sendable {
    /// The data file, below the journal's directory: `entries/data.mdb` or `blacklist/data.mdb`.
    public var file: String
    /// The page, from 0; nil where it is no single one.
    public var page: UInt64?
    /// The table, or `free list`, or `list of tables`.
    public var table: String?
    /// The number of the lane.
    public var lane: UInt32?
    public var uid: UID?
    /// What is wrong.
    public var what: String
    /// What it means for whoever owns the journal.
    public var meaning: String
}

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

/// How far a long look at a journal has come.
public struct InspectionProgress: Hashable, Sendable {
    /// What is being done, such as "checking entries".
    public var phase: String
    public var done: Int
    public var total: Int
}

/// How long, and at what price, a journal in use may be kept from using freed pages again.
///
/// While its pages are read, those that its owner gives back stay as they are, and its file grows by what is written. When
/// one of these is reached, the reading ends with ``Holdfast/JournalError/Code/limitReached``, and nothing is kept.
public struct InspectionLimits: Sendable {
    /// For each of the two files. Default: five minutes.
    public var time: Duration = .seconds(300)
    /// Bytes by which a file may grow meanwhile. Default: 1 GiB.
    public var growth = 1 << 30

    public init() {}
}
