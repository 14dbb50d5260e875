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
    private let finding: DataFile.Finding

    var facts: FactsRecord?
    private var factKeys: Set<String> = []
    /// `nil` for a lane whose record is damaged; its figures are then not checked.
    var lanes: [LaneRecord?] = []
    var laneTallies: [LaneTally] = []
    var producers: [ProducerRecord?] = []
    var producerTallies: [Int] = []
    /// Whether a record's own word was not to be had, so that sums over records say nothing.
    var hasUnreadRecords = false
    private var limit: UInt64?
    /// Rows of `aside`.
    var asideCount = 0
    /// At an opening, what `deferred` and `deferredIndex` say of each other: sums of hashes, which are equal when the rows
    /// are. Looking each of them up would take too long.
    private(set) var deferredSums: (rows: UInt64, index: UInt64) = (0, 0)
    var outcomeLog = OutcomeLogCheck()
    /// Nil when the journal does not say.
    private(set) var format: UInt32?

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
        check.walk(walk, tables, names) { table, key, value, page in
            // What is passed over when it cannot be read is left to its reader.
            if check.isOpening, Self.passedOver.contains(table) { return }
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

    // MARK: Facts, lanes, Producers

    private func fact(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        func damage(_ what: String, _ meaning: String) { check.add(what, table: "facts", page: page, means: meaning) }
        factKeys.insert(String(decoding: key, as: UTF8.self))
        switch key {
        case EntriesStore.formatKey:
            let version = value.count == 4 ? value.span.littleEndian32(at: 0) : 0
            format = version
            if !(EntriesStore.oldestFormat...EntriesStore.formatVersion).contains(version) {
                damage(
                    "the format is \(value.count == 4 ? "\(version)" : "not a number"); this Holdfast knows up to "
                        + "\(EntriesStore.formatVersion)",
                    "Either a newer Holdfast wrote the journal, or the number is damaged and no Holdfast opens it.")
            }
        case EntriesStore.stateKey:
            do throws(EntryRecord.Fault) {
                facts = try FactsRecord(value)
            } catch {
                damage("the journal's state: \(error.words)", "The journal does not open. Salvage it.")
            }
        case EntriesStore.limitKey:
            guard let (limit, isChecked) = NumberRecord.value(value, key: key) else {
                return damage("the limit's checksum or length is wrong", DamageMeaning.figures)
            }
            self.limit = limit
            if !isChecked {
                check.remark("The limit was stored without a checksum; the next opening stores it with one.")
            }
        case OutcomeTables.boundsKey:
            do throws(EntryRecord.Fault) {
                outcomeLog.bounds = try OutcomeLogBounds(value)
            } catch {
                damage(
                    "the bounds of the log of outcomes: \(error.words)",
                    "The next opening makes them anew; some numbers may be left out.")
            }
        default:
            damage("there is a fact that this Holdfast does not know", "Nothing reads it.")
        }
    }

    private func checkFacts() {
        guard !check.torn.contains("facts"), tables.contains(where: { $0.name == "facts" }) else { return }
        // The first commit of a journal has the format alone.
        let isNew = factKeys == ["format"] && check.report.rows.values.reduce(0, +) == 1
        for key in ["format", "state", "limit"] where !factKeys.contains(key) && !isNew {
            check.add("the fact \(key) is missing", table: "facts", means: "The journal is not whole. Salvage it.")
        }
    }

    private func lane(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        var record: LaneRecord?
        let number = UInt32(lanes.count) + 1
        if key != Key.lane(number).span.array {
            check.add(
                "the numbers of the lanes have a gap, or one is damaged", table: "lanes", page: page, lane: number,
                means: "The journal does not open. Salvage it.")
        }
        do throws(EntryRecord.Fault) {
            record = try LaneRecord(value)
        } catch {
            check.add(
                "the lane's record: \(error.words)", table: "lanes", page: page, lane: number,
                means: "The journal does not open. Salvage it.")
        }
        lanes.append(record)
        laneTallies.append(LaneTally())
    }

    private func producer(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        var record: ProducerRecord?
        if key != Key.producer(UInt16(truncatingIfNeeded: producers.count + 1)).span.array {
            check.add(
                "the numbers of the Producers have a gap, or one is damaged", table: "producers", page: page,
                means: "The journal does not open. Salvage it.")
        }
        do throws(EntryRecord.Fault) {
            record = try ProducerRecord(value)
        } catch {
            check.add(
                "the record of Producer \(producers.count + 1): \(error.words)", table: "producers", page: page,
                means: "The journal does not open. Salvage it.")
        }
        producers.append(record)
        producerTallies.append(0)
    }

    // MARK: Rows with a UID

    func badKey(_ key: [UInt8], _ table: String, _ page: UInt64) {
        check.add(
            "a key of \(key.count) bytes is none of this table's", table: table, page: page, means: DamageMeaning.badRow
        )
    }

    private func entry(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 12 else { return badKey(key, "entries", page) }
        let (lane, uid) = (key.span.bigEndian32(at: 0), key.span.bigEndian64(at: 4))
        let head = self.record(value, lane: lane, uid: uid, "entries", page)
        tally(lane, uid, "entries", page) { tally in
            tally.entries += 1
            if head != nil { tally.lastSoundUID = max(tally.lastSoundUID, uid) }
            if head?.flags.contains(.possiblySent) == true { tally.flaggedEntries += 1 }
        }
    }

    private func deferred(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 20 else { return badKey(key, "deferred", page) }
        let (lane, uid) = (key.span.bigEndian32(at: 0), key.span.bigEndian64(at: 12))
        let head = self.record(value, lane: lane, uid: uid, "deferred", page)
        deferredSums.rows &+= XXH64.hash(key.span)
        tally(lane, uid, "deferred", page) { tally in
            tally.deferred += 1
            if WallTime(milliseconds: key.span.dueTime).isScheduled { tally.scheduled += 1 }
            if WallTime(milliseconds: key.span.dueTime).isPlaceOfTag { tally.held += 1 }
            if head != nil { tally.lastSoundUID = max(tally.lastSoundUID, uid) }
            if head?.flags.contains(.possiblySent) == true { tally.flaggedDeferred += 1 }
        }
    }

    private func tally(
        _ lane: UInt32, _ uid: UInt64, _ table: String, _ page: UInt64, _ body: (inout LaneTally) -> Void
    ) {
        let index = Int(lane) - 1
        guard lanes.indices.contains(index) else {
            return check.add(
                "there is no lane of its number", table: table, page: page, lane: lane, uid: uid,
                means: "The notification is never handed out. Salvage puts it into a lane.")
        }
        body(&laneTallies[index])
        laneTallies[index].lastUID = max(laneTallies[index].lastUID, uid)
    }

    /// Checks an unconfirmed entry's record.
    private func record(
        _ value: Span<UInt8>, lane: UInt32, uid: UInt64, _ table: String, _ page: UInt64
    ) -> EntryRecord.Head? {
        do throws(EntryRecord.Fault) {
            let record = try EntryRecord.read(value, lane: lane, uid: uid).get()
            if !check.isOpening { _ = try record.fields(in: value.array) }
            let index = Int(record.head.producer) - 1
            guard producers.indices.contains(index) else {
                throw .damaged("there is no Producer number \(record.head.producer)")
            }
            producerTallies[index] += 1
            return record.head
        } catch {
            hasUnreadRecords = true
            check.add(
                "the record: \(error.words)", table: table, page: page, lane: lane, uid: uid,
                means:
                    "The notification cannot be sent; the engine moves it to the quarantine when it comes to it. Salvage "
                    + "looks for an undamaged copy.")
            return nil
        }
    }

    private func deferredIndex(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 12, value.count == 8 else { return badKey(key, "deferredIndex", page) }
        let (lane, uid) = (key.span.bigEndian32(at: 0), key.span.bigEndian64(at: 4))
        let due = Int64(bitPattern: value.load(UInt64.self, at: 0))
        let name = Key.deferred(lane, due: due, uid)
        if check.isOpening {
            deferredSums.index &+= XXH64.hash(name.span)
            return
        }
        guard !check.torn.contains("deferred"), let table = tables.first(where: { $0.name == "deferred" }) else {
            return
        }
        let wanted = name.span.array
        var cursor = TreeCursor(walk.file, table.record)
        if !cursor.seek(atLeast: wanted) || cursor.key != wanted {
            check.add(
                "the index names a deferred entry that is not there", table: "deferredIndex", page: page, lane: lane,
                uid: uid, means: "A late answer for the entry may be lost. Salvage makes the index anew.")
        }
    }

    private func rejection(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "rejections", page) }
        let uid = key.span.bigEndian64(at: 0)
        do throws(EntryRecord.Fault) {
            _ = try Rejection(value.array, uid: uid, producers: [], lanes: [])
            let head = try RejectionRecord.head(value)
            guard lanes.indices.contains(Int(head.lane) - 1) else {
                throw .damaged("there is no lane number \(head.lane)")
            }
            guard producers.indices.contains(Int(head.producer) - 1) else {
                throw .damaged("there is no Producer number \(head.producer)")
            }
        } catch {
            check.add(
                "the rejection: \(error.words)", table: "rejections", page: page, uid: uid,
                means: "It cannot be listed or retried. No unconfirmed notification is affected.")
        }
    }

    private func outcome(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "outcomes", page) }
        let uid = key.span.bigEndian64(at: 0)
        do throws(EntryRecord.Fault) {
            _ = try OutcomeRecord.read(value, uid: uid, producers: [])
        } catch {
            check.add(
                "the outcome: \(error.words)", table: "outcomes", page: page, uid: uid,
                means: "The application will not hear how this notification ended.")
        }
    }

    /// Checks a row of the quarantine. The entry is no damage any more, but its row must be whole.
    private func quarantined(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "quarantine", page) }
        let uid = key.span.bigEndian64(at: 0)
        do throws(EntryRecord.Fault) {
            let row = try QuarantineRecord(value, uid: uid)
            tally(row.lane, uid, "quarantine", page) { _ in }
            check.remark(
                "There are entries in quarantine, whose records cannot be read: `holdfast journal quarantine list` lists them."
            )
        } catch {
            check.add(
                "the quarantined entry: \(error.words)", table: "quarantine", page: page, uid: uid,
                means: "It cannot be brought back. No other notification is affected.")
        }
    }

    /// Checks a row of the entries of which the newest wins.
    private func newest(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        guard key.count == NewestRecord.keyByteCount else { return badKey(key, "newest", page) }
        if NewestRecord.read(value, key: key) == nil {
            check.add(
                "the row of the newest is damaged", table: "newest", page: page,
                means: "A notification may be sent although a newer one was to take its place.")
        }
    }

    private func identity(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "identities", page) }
        let uid = key.span.bigEndian64(at: 0)
        if IdentityRecord(value, uid: uid) == nil || OutcomeCode.isUnknown(value[13]) {
            check.add(
                "the remembered identity is damaged", table: "identities", page: page, uid: uid,
                means: "A repeat of this notification would be accepted once more.")
        }
    }

    private func note(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        do throws(EntryRecord.Fault) {
            _ = try NoteRecord.value(value, name: key)
            if !NoteRecord.isBound(value) {
                check.remark(
                    "There are notes of a format whose names have no checksum; they get one when they are next written."
                )
            }
        } catch {
            check.add(
                "the note \(String(decoding: key, as: UTF8.self).debugDescription): \(error.words)", table: "notes",
                page: page,
                means: "What it remembered (a route, how far a file was taken) is lost. No notification is affected.")
        }
    }
}
