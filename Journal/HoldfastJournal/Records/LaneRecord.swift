import Holdfast
import HoldfastLMDB

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
