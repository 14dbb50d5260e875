import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB

@testable import HoldfastJournal

/// A closed journal with entries in two lanes, deferred ones, rejections, outcomes, identities, notes and a blacklist.
struct SampleJournal {
    let path: String
    /// The data file of the entries.
    var entries: String { path + "/entries/data.mdb" }
    var blacklist: String { path + "/blacklist/data.mdb" }

    @discardableResult
    init(at path: String, count: Int = 40, keys: JournalKeys? = nil) throws {
        self.path = path
        var options = JournalOptions()
        options.keys = keys
        let journal = try LMDBJournal(directory: path, options: options)
        defer { journal.close() }
        let lanes = try [immediate, considerate].map { try journal.openLane($0).id }
        let producer = try journal.openProducer("default")
        for lane in lanes {
            var submission = submission(0..<count, lane, producer: producer)
            submission.add(sample(count, payloadByteCount: 3500), lane)
            submission.identities = (0..<count / 2).map { ($0, Identity(high: UInt64(lane.rawValue), low: UInt64($0))) }
            submission.note = ("progress", [1, 2, 3])
            let first = try journal.append(submission).first.rawValue
            func key(_ offset: UInt64) -> EntryKey { EntryKey(lane: lane, uid: UID(first + offset)) }
            var batch = SettlementBatch(acknowledging: [key(0), key(1)], keepsOutcomes: true)
            batch.others = [
                Settlement(key(2), .reject(rejection)), Settlement(key(3), .expire),
                Settlement(key(4), Self.deferral(possiblySent: false)),
                Settlement(key(5), Self.deferral(possiblySent: true)),
            ]
            try journal.settle(batch)
        }
        try journal.blacklist.add((0..<count).map { Self.bad($0) })
    }

    static func deferral(possiblySent: Bool, attempts: UInt16 = 1) -> Settlement.Kind {
        .deferUntil(
            WallTime(milliseconds: 1_800_000_000_000), attempts: attempts, reason: .serviceUnavailable,
            possiblySent: possiblySent)
    }

    static func bad(_ number: Int) -> BlacklistEntry {
        BlacklistEntry(
            token: sample(number).token!, reason: .unregistered, since: acceptance, learntAt: acceptance,
            route: "default")
    }

    func verify() throws -> VerificationReport { try JournalVerification.run(directory: path) }

    /// What is in a journal, for comparing: rows of all tables but for those that each opening or copy changes.
    static func rows(_ path: String, without tables: Set<String> = []) throws -> [String: [[UInt8]: [UInt8]]] {
        var rows: [String: [[UInt8]: [UInt8]]] = [:]
        for part in ["entries", "blacklist"] {
            guard let file = try HoldfastLMDB.DataFile.find(path + "/\(part)/data.mdb").file else { throw TimedOut() }
            let walk = FileWalk(file) { _ in
                true
            } fault: { _ in
            }
            for table in walk.tables() where !tables.contains(table.name) {
                walk.walk(table.record, name: table.name) { key, value, _ in
                    rows[part + "." + table.name, default: [:]][key] = value.array
                }
            }
        }
        return rows
    }

    /// Puts a row with liblmdb, or deletes it, so that pages stay sound and only what is in them does not.
    func put(_ table: String, _ key: [UInt8], _ value: [UInt8]?, in part: String = "entries") throws {
        let environment = try Environment.open(path + "/" + part, .readWrite, mapByteCount: nil, tables: 32)
        defer { environment.close() }
        let transaction = try WriteTransaction(environment)
        let index = try transaction.table(table)
        if let value {
            try transaction.put(key.span, value.span, in: index)
        } else {
            _ = try transaction.delete(key.span, in: index)
        }
        try transaction.commit()
    }

    /// The rows of a table, in the order of their keys.
    func rows(_ table: String, in part: String = "entries") throws -> [(key: [UInt8], value: [UInt8])] {
        try (Self.rows(path)[part + "." + table] ?? [:])
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
    }

    /// Changes a row as it is read and written.
    func change(_ table: String, _ key: [UInt8], _ body: ([UInt8]) throws -> [UInt8]) throws {
        guard let row = try rows(table).first(where: { $0.key == key }) else { throw TimedOut() }
        try put(table, key, try body(row.value))
    }

    /// Changes a lane's record.
    func changeLane(_ number: UInt32, _ body: (inout LaneRecord) -> Void) throws {
        try change("lanes", [0, 0, 0, UInt8(number)]) { bytes in
            var lane = try LaneRecord(bytes)
            body(&lane)
            return lane.bytes
        }
    }

    static func entryKey(_ lane: UInt8, _ uid: UInt8) -> [UInt8] { [0, 0, 0, lane] + uidKey(uid) }

    static func uidKey(_ uid: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, uid] }

    /// Where the record of an entry lies in the data file: not one of its older copies.
    func place(of uid: UInt64, in file: Data, table name: String = "entries") throws -> Int {
        guard let source = try HoldfastLMDB.DataFile.find(entries).file else { throw TimedOut() }
        var found: Int?
        let walk = FileWalk(source) { _ in
            true
        } fault: { _ in
        }
        guard let table = walk.tables().first(where: { $0.name == name }) else { throw TimedOut() }
        walk.walk(table.record, name: name) { key, value, place in
            let page = Int(place.page) * 4096..<Int(place.page + 1) * 4096
            if key.suffix(8).reduce(0, { $0 << 8 | UInt64($1) }) == uid {
                found = file.range(of: Data(value.array), in: page)?.lowerBound
            }
        }
        guard let found else { throw TimedOut() }
        return found
    }
}
