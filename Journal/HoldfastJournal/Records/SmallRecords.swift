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

    /// The fault of a record that should begin with `magic`; `nil` when it is sound.
    ///
    /// - Parameter newest: the newest version of it that is known.
    static func fault(
        _ bytes: Span<UInt8>, _ magic: UInt32, newest: UInt8 = version, seed: UInt64 = 0, atLeast count: Int
    ) -> EntryRecord.Fault? {
        guard bytes.count >= 13, bytes.load(UInt32.self, at: 8) == magic else {
            return .damaged("it does not begin as such a record does")
        }
        guard bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8, seed: seed) else {
            return .damaged("its checksum is wrong")
        }
        guard (1...newest).contains(bytes[12]) else { return .newer(bytes[12]) }
        guard bytes.count >= count else { return .damaged("it is too short") }
        return nil
    }
}

/// A lane as it lies in `lanes`.
///
///     13 u8 urgency   14 u8 guarantee   15 u8 route's length
///     16 u64 send mark   24 u64 last UID   32 u64 entries   40 u64 deferred
///     48 u64 possibly sent by their records' own word: of entries   56 u64 of deferred
///     64 u8 state: 0 running, 1 paused, 2 stopped   65 u8 0   66 u16 reason's length   68 i64 since
///     76 from version 3 on: u64 scheduled, of the deferred   84 in version 4: u64 held by pauses of tags, of the deferred
///     76, 84 or 92 route · reason
///
/// Version 1 ends with the route, from 64 on, and is always running. Version 3 is written while something is scheduled, and
/// version 4 while something is held.
struct LaneRecord: Hashable, Sendable {
    static let magic: UInt32 = 0x6E6C_4648  // "HFln"
    static let version: UInt8 = 4

    var key: LaneKey
    var mark: UInt64 = 0
    var lastUID: UInt64 = 0
    /// In the table `entries`.
    var entries: Int = 0
    /// In the table `deferred`.
    var deferred: Int = 0
    /// Of ``deferred``, those that wait for the time they are scheduled for.
    var scheduled: Int = 0
    /// Of ``deferred``, those in the places of paused tags.
    var held: Int = 0
    /// Entries in `entries` whose record says that they are possibly sent.
    var flaggedEntries: Int = 0
    /// Entries in `deferred` whose record says so.
    var flaggedDeferred: Int = 0
    var state = LaneState.running

    init(key: LaneKey) { self.key = key }

    func hasSameFigures(as other: LaneRecord) -> Bool {
        mark == other.mark && lastUID == other.lastUID && entries == other.entries && deferred == other.deferred
            && scheduled == other.scheduled && held == other.held && flaggedEntries == other.flaggedEntries
            && flaggedDeferred == other.flaggedDeferred
            && state == other.state
    }

    var bytes: [UInt8] {
        var content: [UInt8] = [key.urgency.rawValue, key.guarantee.rawValue, UInt8(key.route.utf8.count)]
        for figure in [mark, lastUID] { content.appendLittleEndian(figure) }
        for figure in [entries, deferred, flaggedEntries, flaggedDeferred] {
            content.appendLittleEndian(UInt64(figure))
        }
        let (code, reason, since) = state.fields
        content.append(code)
        content.append(0)
        content.appendLittleEndian(UInt16(reason.utf8.count))
        content.appendLittleEndian(UInt64(bitPattern: since.milliseconds))
        if scheduled != 0 || held != 0 { content.appendLittleEndian(UInt64(scheduled)) }
        if held != 0 { content.appendLittleEndian(UInt64(held)) }
        content.append(contentsOf: key.route.utf8)
        content.append(contentsOf: reason.utf8)
        return SmallRecord.seal(Self.magic, version: held != 0 ? 4 : scheduled != 0 ? 3 : 2, content)
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, newest: Self.version, atLeast: 64) { throw fault }
        let hasState = span[12] > 1
        let hasSchedules = span[12] > 2
        let hasHeld = span[12] > 3
        let routeStart = hasHeld ? 92 : hasSchedules ? 84 : hasState ? 76 : 64
        guard span.count >= routeStart else { throw .damaged("it is too short") }
        let route = routeStart..<(routeStart + Int(span[15]))
        let reason = route.upperBound..<(route.upperBound + (hasState ? Int(span.load(UInt16.self, at: 66)) : 0))
        guard let urgency = Urgency(rawValue: span[13]), let guarantee = Guarantee(rawValue: span[14]),
            span.count == reason.upperBound,
            let state = LaneState(
                code: hasState ? span[64] : 0, reason: String(decoding: bytes[reason], as: UTF8.self),
                since: WallTime(milliseconds: hasState ? Int64(bitPattern: span.load(UInt64.self, at: 68)) : 0)),
            let entries = Int(exactly: span.load(UInt64.self, at: 32)),
            let deferred = Int(exactly: span.load(UInt64.self, at: 40)),
            let scheduled = Int(exactly: hasSchedules ? span.load(UInt64.self, at: 76) : 0),
            let held = Int(exactly: hasHeld ? span.load(UInt64.self, at: 84) : 0),
            let flaggedEntries = Int(exactly: span.load(UInt64.self, at: 48)),
            let flaggedDeferred = Int(exactly: span.load(UInt64.self, at: 56))
        else { throw .damaged("its fields make no sense") }
        key = LaneKey(route: String(decoding: bytes[route], as: UTF8.self), urgency: urgency, guarantee: guarantee)
        self.state = state
        mark = span.load(UInt64.self, at: 16)
        lastUID = span.load(UInt64.self, at: 24)
        self.entries = entries
        self.deferred = deferred
        self.scheduled = scheduled
        self.held = held
        self.flaggedEntries = flaggedEntries
        self.flaggedDeferred = flaggedDeferred
    }
}

extension LaneState {
    /// As it lies in a lane's record.
    fileprivate var fields: (code: UInt8, reason: String, since: WallTime) {
        switch self {
        case .running: (0, "", WallTime(milliseconds: 0))
        case .paused(let reason, let since): (1, reason, since)
        case .stopped(let reason, let since): (2, reason, since)
        }
    }

    fileprivate init?(code: UInt8, reason: String, since: WallTime) {
        switch code {
        case 0: self = .running
        case 1: self = .paused(reason: reason, since: since)
        case 2: self = .stopped(reason: reason, since: since)
        default: return nil
        }
    }

    /// With a reason that is not too long to keep.
    var cut: LaneState {
        switch self {
        case .running: self
        case .paused(let reason, let since): .paused(reason: Self.cut(reason), since: since)
        case .stopped(let reason, let since): .stopped(reason: Self.cut(reason), since: since)
        }
    }

    private static func cut(_ reason: String) -> String {
        var cut = reason
        while cut.utf8.count > longestReason { cut.removeLast() }
        return cut
    }
}

/// Facts about the whole journal, in `facts` under "state".
///
///     13 u8 1 when it was closed in order, 2 has a wall time   14 u16 0
///     16 u64 next UID   24 u64×7 totals, the superseded apart   80 u64 how often it was opened
///     88 i64 wall time of the last append or settlement   96 u64×2 key of the identities
///     112 in version 2: u64 superseded
///
/// Version 2 is written once something was superseded.
struct FactsRecord: Hashable, Sendable {
    static let magic: UInt32 = 0x6166_4648  // "HFfa"
    static let version: UInt8 = 2

    var nextUID: UInt64 = 1
    var totals = JournalTotals()
    var openings: UInt64 = 0
    var closedInOrder = false
    var wallTime: WallTime?
    let identityKey: IdentityKey

    /// The facts of a new journal.
    init(identityKey: IdentityKey) { self.identityKey = identityKey }

    var bytes: [UInt8] {
        var content: [UInt8] = [(closedInOrder ? 1 : 0) | (wallTime == nil ? 0 : 2), 0, 0]
        content.appendLittleEndian(nextUID)
        content.append(totals)
        content.appendLittleEndian(openings)
        content.appendLittleEndian(UInt64(bitPattern: wallTime?.milliseconds ?? 0))
        content.appendLittleEndian(identityKey.first)
        content.appendLittleEndian(identityKey.second)
        guard totals.superseded > 0 else { return SmallRecord.seal(Self.magic, content) }
        content.appendLittleEndian(totals.superseded)
        return SmallRecord.seal(Self.magic, version: Self.version, content)
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, newest: Self.version, atLeast: 112) { throw fault }
        guard span.count == (span[12] > 1 ? 120 : 112) else { throw .damaged("its length is another") }
        closedInOrder = span[13] & 1 != 0
        nextUID = span.load(UInt64.self, at: 16)
        totals = JournalTotals(span, at: 24)
        if span[12] > 1 { totals.superseded = span.load(UInt64.self, at: 112) }
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
    static let headerByteCount = 40

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

extension RejectionRecord {
    /// The head of the entry's record.
    static func head(_ span: Span<UInt8>) throws(EntryRecord.Fault) -> EntryRecord.Head {
        let record = try read(span).get().record
        var inner: [UInt8] = []
        span.append(record, to: &inner)
        return EntryRecord.uncheckedHead(inner.span)
    }
}

/// A note as it lies in `notes`: its bytes behind the head. From version 2 on the checksum's seed is the hash of the name,
/// so that a value under another's name is damage.
enum NoteRecord {
    static let magic: UInt32 = 0x746E_4648  // "HFnt"
    static let version: UInt8 = 2
    private static let headByteCount = 13

    /// The key of a note in `notes`.
    static func key(of name: String) throws(JournalError) -> [UInt8] {
        let key = Array(name.utf8)
        guard (1...511).contains(key.count) else {
            throw JournalError(.limitReached, "the name of a note has 1 to 511 bytes, not \(key.count)")
        }
        return key
    }

    static func bytes(_ value: [UInt8], name: [UInt8]) -> [UInt8] {
        SmallRecord.seal(magic, version: version, seed: XXH64.hash(name.span), value)
    }

    static func value(_ bytes: [UInt8], name: [UInt8]) throws(EntryRecord.Fault) -> [UInt8] {
        let span = bytes.span
        guard bytes.count >= headByteCount, span.load(UInt32.self, at: 8) == magic else {
            throw .damaged("it does not begin as such a record does")
        }
        // One whose version is damaged fails by either seed.
        let seed = isBound(bytes) ? XXH64.hash(name.span) : 0
        guard span.load(UInt64.self, at: 0) == XXH64.hash(span, from: 8, seed: seed) else {
            throw .damaged("its checksum is wrong")
        }
        guard bytes[12] <= version else { throw .newer(bytes[12]) }
        return Array(bytes[headByteCount...])
    }

    /// Whether the checksum covers the name.
    static func isBound(_ bytes: [UInt8]) -> Bool { bytes.count >= headByteCount && bytes[12] > 1 }
}

/// A number in `facts`, such as the limit of the newest opening under "limit": u64, and then its XXH64, whose seed is the
/// hash of the key. Older limits have no checksum.
enum NumberRecord {
    static func bytes(_ number: UInt64, key: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(number)
        bytes.appendLittleEndian(XXH64.hash(bytes.span, seed: XXH64.hash(key.span)))
        return bytes
    }

    /// - Returns: nil for damage.
    static func value(_ bytes: [UInt8], key: [UInt8]) -> (number: UInt64, isChecked: Bool)? {
        guard bytes.count == 8 || bytes.count == 16 else { return nil }
        let number = bytes.span.load(UInt64.self, at: 0)
        if bytes.count == 8 { return (number, false) }
        return Self.bytes(number, key: key) == bytes ? (number, true) : nil
    }
}
