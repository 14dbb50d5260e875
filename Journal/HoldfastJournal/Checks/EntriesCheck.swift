import Holdfast
import HoldfastLMDB

/// Checks the rows in `entries/`: each by itself, and then all of them against the figures and each other.
final class EntriesCheck {
    /// The counts of one lane.
    struct LaneTally {
        var entries = 0
        var deferred = 0
        var scheduled = 0
        var held = 0
        var flaggedEntries = 0
        var flaggedDeferred = 0
        var lastUID: UInt64 = 0
        /// The last UID of a readable record, so that a damaged key does not count.
        var lastSoundUID: UInt64 = 0
    }

    let check: FileCheck
    let walk: FileWalk
    let tables: [(name: String, record: TreeRecord)]
    let finding: DataFile.Finding

    var facts: FactsRecord?
    var factKeys: Set<String> = []
    /// `nil` for a lane whose record is damaged; its figures are then not checked.
    var lanes: [LaneRecord?] = []
    var laneTallies: [LaneTally] = []
    var producers: [ProducerRecord?] = []
    var producerTallies: [Int] = []
    /// Whether a record's own word was not to be had, so that sums over records say nothing.
    var hasUnreadRecords = false
    var limit: UInt64?
    /// Rows of `aside`.
    var asideCount = 0
    /// At an opening, what `deferred` and `deferredIndex` say of each other: sums of hashes, which are equal when the rows
    /// are. Looking each of them up would take too long.
    var deferredSums: (rows: UInt64, index: UInt64) = (0, 0)
    var outcomeLog = OutcomeLogCheck()
    /// Nil when the journal does not say.
    var format: UInt32?

    static let figuresTables = ["facts", "lanes", "producers"]
    static let rowTables = [
        "entries", "deferred", "deferredIndex", "rejections", "outcomes", "identities", "notes",
    ]
    private static let passedOver: Set<String> = [
        "rejections", "outcomes", "identities", "notes", "asideOrder", "newest", "outcomeLog", "outcomeIndex",
        "outcomeReaders",
    ]
    /// Tables that a journal of an older version does not have.
    private var addedTables: [String] {
        EntriesStore.Tables.addedNames.filter { name in tables.contains { table in table.name == name } }
    }

    init(
        _ check: FileCheck, _ walk: FileWalk, _ tables: [(name: String, record: TreeRecord)],
        _ finding: DataFile.Finding
    ) {
        self.check = check
        self.walk = walk
        self.tables = tables
        self.finding = finding
    }

    func run() {
        let names = Self.figuresTables + Self.rowTables + asideTables + addedTables + outcomeTables
        // What is passed over when it cannot be read is left to its reader.
        check.walk(walk, tables, names, skipping: check.isOpening ? Self.passedOver : []) { table, key, value, page in
            switch table {
            case "facts": fact(key, value.array, page)
            case "lanes": lane(key, value.array, page)
            case "producers": producer(key, value.array, page)
            case "entries": entry(key, value, page)
            case "deferred": deferred(key, value, page)
            case "deferredIndex": deferredIndex(key, value, page)
            case "rejections": rejection(key, value, page)
            case "outcomes": outcome(key, value.array, page)
            case "identities": identity(key, value, page)
            case "aside": asideRow(key, value, page)
            case "asideOrder": if key.count != 20 { badKey(key, table, page) }
            case "quarantine": quarantined(key, value.array, page)
            case "outcomeLog": outcomeBlock(key, value, page)
            case "outcomeIndex": outcomeIndexRow(key, value, page)
            case "outcomeReaders": outcomeReader(key, value, page)
            case "newest": newest(key, value.array, page)
            default: note(key, value.array, page)
            }
        }
        guard !walk.isStopped || check.isOpening else { return }
        checkFacts()
        check.checkMap(finding, expected: limit.map { JournalOptions.mapByteCount(limit: Int(clamping: $0)) })
        checkFigures()
        checkAside()
        checkOutcomes()
        checkPlaces()
    }

    func badKey(_ key: [UInt8], _ table: String, _ page: UInt64) {
        check.add(
            "a key of \(key.count) bytes is none of this table's", table: table, page: page, means: DamageMeaning.badRow
        )
    }
}
