import Holdfast
import HoldfastLMDB

/// The records that are not notifications. Little-endian, each with the XXH64 of everything behind it in front.
///
/// Writing is for cold paths, so plain arrays do.
enum SmallRecord {
    static let version: UInt8 = 1

    /// Puts checksum, magic and version before `content`.
    static func seal(_ magic: UInt32, version: UInt8 = version, seed: UInt64 = 0, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(13 + content.count)
        bytes.appendLittleEndian(UInt64(0))
        bytes.appendLittleEndian(magic)
        bytes.append(version)
        bytes.append(contentsOf: content)
        var span = bytes.mutableSpan
        span.store(XXH64.hash(span.span, from: 8, seed: seed), at: 0)
        return bytes
    }

    /// What is wrong with a record that should be `magic`'s; nil when nothing is.
    static func fault(_ bytes: Span<UInt8>, _ magic: UInt32, seed: UInt64 = 0, atLeast count: Int) -> EntryRecord.Fault?
    {
        guard bytes.count >= 13, bytes.load(UInt32.self, at: 8) == magic else {
            return .damaged("it does not begin as such a record does")
        }
        guard bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8, seed: seed) else {
            return .damaged("its checksum is wrong")
        }
        guard bytes[12] == version else { return .newer(bytes[12]) }
        guard bytes.count >= count else { return .damaged("it is too short") }
        return nil
    }
}

/// A lane as it lies in `lanes`.
///
///     13 u8 urgency   14 u8 guarantee   15 u8 route's length
///     16 u64 send mark   24 u64 last UID   32 u64 entries   40 u64 deferred   48 route
struct LaneRecord: Hashable, Sendable {
    static let magic: UInt32 = 0x6E6C_4648  // "HFln"

    var key: LaneKey
    var mark: UInt64 = 0
    var lastUID: UInt64 = 0
    /// In the table `entries`.
    var entries: Int = 0
    /// In the table `deferred`.
    var deferred: Int = 0

    init(key: LaneKey) { self.key = key }

    func hasSameFigures(as other: LaneRecord) -> Bool {
        mark == other.mark && lastUID == other.lastUID && entries == other.entries && deferred == other.deferred
    }

    var bytes: [UInt8] {
        var content: [UInt8] = [key.urgency.rawValue, key.guarantee.rawValue, UInt8(key.route.utf8.count)]
        for figure in [mark, lastUID, UInt64(entries), UInt64(deferred)] { content.appendLittleEndian(figure) }
        content.append(contentsOf: key.route.utf8)
        return SmallRecord.seal(Self.magic, content)
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, atLeast: 48) { throw fault }
        guard let urgency = Urgency(rawValue: span[13]), let guarantee = Guarantee(rawValue: span[14]),
            span.count == 48 + Int(span[15]),
            let entries = Int(exactly: span.load(UInt64.self, at: 32)),
            let deferred = Int(exactly: span.load(UInt64.self, at: 40))
        else { throw .damaged("its fields make no sense") }
        key = LaneKey(route: String(decoding: bytes[48...], as: UTF8.self), urgency: urgency, guarantee: guarantee)
        mark = span.load(UInt64.self, at: 16)
        lastUID = span.load(UInt64.self, at: 24)
        self.entries = entries
        self.deferred = deferred
    }
}

/// What holds for the whole journal, in `facts` under "state".
///
///     13 u8 1 when it was closed in order   14 u16 0
///     16 u64 next UID   24 u64×7 totals, in JournalTotals' order   80 u64 how often it was opened
struct FactsRecord: Hashable, Sendable {
    static let magic: UInt32 = 0x6166_4648  // "HFfa"

    var nextUID: UInt64 = 1
    var totals = JournalTotals()
    var openings: UInt64 = 0
    var closedInOrder = false

    init() {}

    var bytes: [UInt8] {
        var content: [UInt8] = [closedInOrder ? 1 : 0, 0, 0]
        for figure in [
            nextUID, totals.accepted, totals.confirmed, totals.rejected, totals.expired, totals.unknown,
            totals.withdrawn, totals.possibleDuplicates, openings,
        ] { content.appendLittleEndian(figure) }
        return SmallRecord.seal(Self.magic, content)
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, atLeast: 88) { throw fault }
        closedInOrder = span[13] == 1
        nextUID = span.load(UInt64.self, at: 16)
        totals.accepted = span.load(UInt64.self, at: 24)
        totals.confirmed = span.load(UInt64.self, at: 32)
        totals.rejected = span.load(UInt64.self, at: 40)
        totals.expired = span.load(UInt64.self, at: 48)
        totals.unknown = span.load(UInt64.self, at: 56)
        totals.withdrawn = span.load(UInt64.self, at: 64)
        totals.possibleDuplicates = span.load(UInt64.self, at: 72)
        openings = span.load(UInt64.self, at: 80)
    }
}

/// A rejection as it lies in `rejections`: why and when, and then the entry's record as it was.
///
///     13 u8 1 has a status, 2 has a timestamp   14 u16 status   16 i64 timestamp   24 i64 rejected at
///     32 u16 reason's length   34 u16 0   36 u32 record's length   40 reason · record
struct RejectionRecord {
    static let magic: UInt32 = 0x6A72_4648  // "HFrj"

    let cause: RejectionCause
    /// Where the entry's record lies.
    let record: Range<Int>

    static func bytes(_ cause: RejectionCause, record: [UInt8]) -> [UInt8] {
        let reason = cause.reason.rawValue.utf8.prefix(Int(UInt16.max))
        var content: [UInt8] = [(cause.status == nil ? 0 : 1) | (cause.timestamp == nil ? 0 : 2)]
        content.appendLittleEndian(UInt16(clamping: cause.status ?? 0))
        content.appendLittleEndian(UInt64(bitPattern: cause.timestamp?.milliseconds ?? 0))
        content.appendLittleEndian(UInt64(bitPattern: cause.rejectedAt.milliseconds))
        content.appendLittleEndian(UInt16(reason.count))
        content.appendLittleEndian(UInt16(0))
        content.appendLittleEndian(UInt32(record.count))
        content.append(contentsOf: reason)
        content.append(contentsOf: record)
        return SmallRecord.seal(magic, content)
    }

    static func read(_ span: Span<UInt8>) -> Result<RejectionRecord, EntryRecord.Fault> {
        if let fault = SmallRecord.fault(span, magic, atLeast: 40) { return .failure(fault) }
        let reason = 40..<(40 + Int(span.load(UInt16.self, at: 32)))
        let record = reason.upperBound..<(reason.upperBound + Int(span.load(UInt32.self, at: 36)))
        guard record.upperBound == span.count else { return .failure(.damaged("its lengths do not add up")) }
        var text: [UInt8] = []
        span.append(reason, to: &text)
        let cause = RejectionCause(
            reason: Reason(rawValue: String(decoding: text, as: UTF8.self)),
            status: span[13] & 1 == 0 ? nil : Int(span.load(UInt16.self, at: 14)),
            timestamp: span[13] & 2 == 0
                ? nil : WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 16))),
            rejectedAt: WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 24))))
        return .success(RejectionRecord(cause: cause, record: record))
    }
}

/// A note as it lies in `notes`: its bytes behind the head.
enum NoteRecord {
    static let magic: UInt32 = 0x746E_4648  // "HFnt"

    static func bytes(_ value: [UInt8]) -> [UInt8] { SmallRecord.seal(magic, value) }

    static func value(_ bytes: [UInt8]) throws(EntryRecord.Fault) -> [UInt8] {
        if let fault = SmallRecord.fault(bytes.span, magic, atLeast: 13) { throw fault }
        return Array(bytes[13...])
    }
}

/// A blacklist entry as it lies in `tokens`. The checksum's seed is the hash of the token, so that a value under another
/// token's key is damage.
///
///     13 u8 route's length   14 u16 reason's length   16 i64 since   24 i64 learnt at   32 reason · route
enum TokenRecord {
    static let magic: UInt32 = 0x6B74_4648  // "HFtk"

    static func bytes(_ entry: BlacklistEntry) -> [UInt8] {
        let route = entry.route.utf8.prefix(255)
        let reason = entry.reason.rawValue.utf8.prefix(Int(UInt16.max))
        var content: [UInt8] = [UInt8(route.count)]
        content.appendLittleEndian(UInt16(reason.count))
        content.appendLittleEndian(UInt64(bitPattern: entry.since.milliseconds))
        content.appendLittleEndian(UInt64(bitPattern: entry.learntAt.milliseconds))
        content.append(contentsOf: reason)
        content.append(contentsOf: route)
        return SmallRecord.seal(magic, seed: XXH64.hash(entry.token.bytes.span), content)
    }

    static func read(_ bytes: [UInt8], token: DeviceToken) throws(EntryRecord.Fault) -> BlacklistEntry {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, magic, seed: XXH64.hash(token.bytes.span), atLeast: 32) { throw fault }
        let reason = 32..<(32 + Int(span.load(UInt16.self, at: 14)))
        let route = reason.upperBound..<(reason.upperBound + Int(span[13]))
        guard route.upperBound == bytes.count else { throw .damaged("its lengths do not add up") }
        return BlacklistEntry(
            token: token, reason: Reason(rawValue: String(decoding: bytes[reason], as: UTF8.self)),
            since: WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 16))),
            learntAt: WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 24))),
            route: String(decoding: bytes[route], as: UTF8.self))
    }
}
