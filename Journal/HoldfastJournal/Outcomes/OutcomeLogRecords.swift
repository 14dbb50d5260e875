import Holdfast
import HoldfastLMDB

/// The bounds of the log, in `facts` under "outcomeLog".
///
///     13 u8 0   14 u16 0   16 u64 everything up to here was deleted   24 u64 the newest outcome's number
///     32 u64 the first segment that may lack an index
///     40 u64 outcomes between the bounds that are lost; only in version 2, which is written where there are some
struct OutcomeLogBounds: Hashable, Sendable {
    static let magic: UInt32 = 0x6C6F_4648  // "HFol"
    static let byteCount = 40
    /// Of the version with lost outcomes.
    private static let newestVersion: UInt8 = 2

    var deleted: UInt64 = 0
    var newest: UInt64 = 0
    var unindexed: UInt64 = 0
    /// Numbers after ``deleted``, up to ``newest``, that have no outcome: a salvage has not found it.
    var lost: UInt64 = 0

    init() {}

    var bytes: [UInt8] {
        var content: [UInt8] = [0, 0, 0]
        for number in [deleted, newest, unindexed] { content.appendLittleEndian(number) }
        guard lost > 0 else { return SmallRecord.seal(Self.magic, content) }
        content.appendLittleEndian(lost)
        return SmallRecord.seal(Self.magic, version: Self.newestVersion, content)
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(
            span, Self.magic, newest: Self.newestVersion, atLeast: Self.byteCount)
        {
            throw fault
        }
        let isOld = span[12] < Self.newestVersion
        guard bytes.count == (isOld ? Self.byteCount : Self.byteCount + 8) else {
            throw .damaged("it has another length")
        }
        deleted = span.load(UInt64.self, at: 16)
        newest = span.load(UInt64.self, at: 24)
        unindexed = span.load(UInt64.self, at: 32)
        lost = isOld ? 0 : span.load(UInt64.self, at: 40)
        guard deleted <= newest, lost <= newest - deleted else { throw .damaged("its fields make no sense") }
    }

    /// Everything up to `number` is deleted.
    ///
    /// - Parameter count: outcomes that were there of those.
    mutating func delete(through number: UInt64, having count: UInt64) {
        guard number > deleted else { return }
        lost -= min(lost, (number - deleted) - min(count, number - deleted))
        deleted = number
    }

    /// The bounds as an engine gets them.
    func figures(bytes: Int, unreadable: Int = 0) -> OutcomeLogFigures {
        OutcomeLogFigures(
            deleted: OutcomeCursor(deleted), newest: OutcomeCursor(newest), bytes: bytes, lost: Int(clamping: lost),
            unreadable: unreadable)
    }

    /// Whether a segment is complete and has no index yet.
    var hasUnindexedSegment: Bool { newest > 0 && unindexed < OutcomeBlock.segment(of: newest &+ 1) }
}

/// How far a reader has come, in `outcomeReaders` under its name. The checksum's seed is the hash of the name.
///
///     13 u8 1 if it is waited for   14 u16 0   16 u64 the last outcome that it has read
enum OutcomeReaderRecord {
    static let magic: UInt32 = 0x726F_4648  // "HFor"
    static let byteCount = 24
    static let nameLengths = 1...64

    static func bytes(_ reader: OutcomeReader) -> [UInt8] {
        var content: [UInt8] = [reader.isWaitedFor ? 1 : 0, 0, 0]
        content.appendLittleEndian(reader.cursor.rawValue)
        return SmallRecord.seal(magic, seed: XXH64.hash(Array(reader.name.utf8).span), content)
    }

    static func read(_ bytes: [UInt8], name: [UInt8]) throws(EntryRecord.Fault) -> OutcomeReader {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, magic, seed: XXH64.hash(name.span), atLeast: byteCount) { throw fault }
        guard bytes.count == byteCount, nameLengths.contains(name.count) else {
            throw .damaged("it has another length")
        }
        return OutcomeReader(
            name: String(decoding: name, as: UTF8.self), cursor: OutcomeCursor(span.load(UInt64.self, at: 16)),
            isWaitedFor: span[13] & 1 != 0)
    }
}
