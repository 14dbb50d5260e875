import Holdfast
import HoldfastLMDB

/// The records that are not notifications. Little-endian, each with the XXH64 of everything behind it in front.
///
/// Writing is for cold paths, so plain arrays do.
enum SmallRecord {
    static let version: UInt8 = 1
    /// Bytes of a service's word that are kept; theirs have some twenty.
    static let longestReason = 1024

    /// The bytes of a reason that are kept.
    static func cut(_ reason: Reason) -> [UInt8] { Array(reason.rawValue.utf8.prefix(longestReason)) }

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
///     16 u64 send mark   24 u64 last UID   32 u64 entries   40 u64 deferred
///     48 u64 possibly sent by their records' own word: of entries   56 u64 of deferred   64 route
struct LaneRecord: Hashable, Sendable {
    static let magic: UInt32 = 0x6E6C_4648  // "HFln"

    var key: LaneKey
    var mark: UInt64 = 0
    var lastUID: UInt64 = 0
    /// In the table `entries`.
    var entries: Int = 0
    /// In the table `deferred`.
    var deferred: Int = 0
    /// Those of `entries` whose record says that they are possibly sent.
    var flaggedEntries: Int = 0
    /// Those of `deferred`.
    var flaggedDeferred: Int = 0

    init(key: LaneKey) { self.key = key }

    func hasSameFigures(as other: LaneRecord) -> Bool {
        mark == other.mark && lastUID == other.lastUID && entries == other.entries && deferred == other.deferred
            && flaggedEntries == other.flaggedEntries && flaggedDeferred == other.flaggedDeferred
    }

    var bytes: [UInt8] {
        var content: [UInt8] = [key.urgency.rawValue, key.guarantee.rawValue, UInt8(key.route.utf8.count)]
        for figure in [mark, lastUID] { content.appendLittleEndian(figure) }
        for figure in [entries, deferred, flaggedEntries, flaggedDeferred] {
            content.appendLittleEndian(UInt64(figure))
        }
        content.append(contentsOf: key.route.utf8)
        return SmallRecord.seal(Self.magic, content)
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, atLeast: 64) { throw fault }
        guard let urgency = Urgency(rawValue: span[13]), let guarantee = Guarantee(rawValue: span[14]),
            span.count == 64 + Int(span[15]),
            let entries = Int(exactly: span.load(UInt64.self, at: 32)),
            let deferred = Int(exactly: span.load(UInt64.self, at: 40)),
            let flaggedEntries = Int(exactly: span.load(UInt64.self, at: 48)),
            let flaggedDeferred = Int(exactly: span.load(UInt64.self, at: 56))
        else { throw .damaged("its fields make no sense") }
        key = LaneKey(route: String(decoding: bytes[64...], as: UTF8.self), urgency: urgency, guarantee: guarantee)
        mark = span.load(UInt64.self, at: 16)
        lastUID = span.load(UInt64.self, at: 24)
        self.entries = entries
        self.deferred = deferred
        self.flaggedEntries = flaggedEntries
        self.flaggedDeferred = flaggedDeferred
    }
}

/// What holds for the whole journal, in `facts` under "state".
///
///     13 u8 1 when it was closed in order, 2 has a wall time   14 u16 0
///     16 u64 next UID   24 u64×7 totals, in JournalTotals' order   80 u64 how often it was opened
///     88 i64 wall time of the last append or settlement   96 u64×2 key of the identities
struct FactsRecord: Hashable, Sendable {
    static let magic: UInt32 = 0x6166_4648  // "HFfa"

    var nextUID: UInt64 = 1
    var totals = JournalTotals()
    var openings: UInt64 = 0
    var closedInOrder = false
    var wallTime: WallTime?
    let identityKey: IdentityKey

    /// Of a new journal.
    init(identityKey: IdentityKey) { self.identityKey = identityKey }

    var bytes: [UInt8] {
        var content: [UInt8] = [(closedInOrder ? 1 : 0) | (wallTime == nil ? 0 : 2), 0, 0]
        content.appendLittleEndian(nextUID)
        content.append(totals)
        content.appendLittleEndian(openings)
        content.appendLittleEndian(UInt64(bitPattern: wallTime?.milliseconds ?? 0))
        content.appendLittleEndian(identityKey.first)
        content.appendLittleEndian(identityKey.second)
        return SmallRecord.seal(Self.magic, content)
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, atLeast: 112) { throw fault }
        closedInOrder = span[13] & 1 != 0
        nextUID = span.load(UInt64.self, at: 16)
        totals = JournalTotals(span, at: 24)
        openings = span.load(UInt64.self, at: 80)
        if span[13] & 2 != 0 { wallTime = WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 88))) }
        identityKey = IdentityKey(first: span.load(UInt64.self, at: 96), second: span.load(UInt64.self, at: 104))
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
        let reason = SmallRecord.cut(cause.reason)
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
        let reason = SmallRecord.cut(entry.reason)
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
