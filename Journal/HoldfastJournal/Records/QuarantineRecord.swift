import Holdfast
import HoldfastLMDB

/// An entry in quarantine, as it lies in `quarantine`: why and when, and then its record as it was.
///
///     13 u8 1 possibly sent   14 u8 the newer version of the record, 0 for damage   15 u8 0
///     16 u32 lane   20 u16 Producer, 0 for unknown   22 u16 fault's length   24 i64 quarantined at
///     32 u64 UID   40 u32 record's length   44 u32 0   48 fault (UTF-8) · record
struct QuarantineRecord {
    static let magic: UInt32 = 0x7571_4648  // "HFqu"
    static let headerByteCount = 48

    let uid: UInt64
    var lane: UInt32
    var producer: UInt16
    var fault: RecordFault
    var isPossiblySent: Bool
    var at: WallTime
    var record: [UInt8]

    init(
        uid: UInt64, lane: UInt32, producer: UInt16, fault: RecordFault, isPossiblySent: Bool, at: WallTime,
        record: [UInt8]
    ) {
        self.uid = uid
        self.lane = lane
        self.producer = producer
        self.fault = fault
        self.isPossiblySent = isPossiblySent
        self.at = at
        self.record = record
    }

    var bytes: [UInt8] {
        var (version, words): (UInt8, [UInt8]) = (0, [])
        switch fault {
        case .damaged(let what): words = Array(what.utf8.prefix(SmallRecord.longestReason))
        // 0 stands for damage, and no version is 0.
        case .newerVersion(let newer): version = max(newer, 1)
        }
        var content: [UInt8] = [isPossiblySent ? 1 : 0, version, 0]
        content.appendLittleEndian(lane)
        content.appendLittleEndian(producer)
        content.appendLittleEndian(UInt16(words.count))
        content.appendLittleEndian(UInt64(bitPattern: at.milliseconds))
        content.appendLittleEndian(uid)
        content.appendLittleEndian(UInt32(record.count))
        content.appendLittleEndian(UInt32(0))
        content.append(contentsOf: words)
        content.append(contentsOf: record)
        return SmallRecord.seal(Self.magic, content)
    }

    /// - Parameter uid: what its key says; a row in another's place is damage as well.
    init(_ bytes: [UInt8], uid: UInt64? = nil) throws(EntryRecord.Fault) {
        let span = bytes.span
        let header = Self.headerByteCount
        if let fault = SmallRecord.fault(span, Self.magic, atLeast: header) { throw fault }
        let words = header..<(header + Int(span.load(UInt16.self, at: 22)))
        guard words.upperBound + Int(span.load(UInt32.self, at: 40)) == bytes.count else {
            throw .damaged("its lengths do not add up")
        }
        let own = span.load(UInt64.self, at: 32)
        guard own == uid ?? own else { throw .damaged("it is the row of UID \(own)") }
        self.init(
            uid: own, lane: span.load(UInt32.self, at: 16), producer: span.load(UInt16.self, at: 20),
            fault: span[14] > 0 ? .newerVersion(span[14]) : .damaged(String(decoding: bytes[words], as: UTF8.self)),
            isPossiblySent: span[13] & 1 != 0,
            at: WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 24))),
            record: Array(bytes[words.upperBound...]))
    }

    /// The entry's record, if it can be read after all.
    var readable: EntryRecord? {
        guard case .success(let entry) = EntryRecord.read(record.span, lane: lane, uid: uid) else { return nil }
        do throws(EntryRecord.Fault) { _ = try entry.fields(in: record) } catch { return nil }
        return entry
    }

    /// - Parameters:
    ///   - producers: the names, Producer 1 first.
    ///   - lanes: lane 1 first.
    func entry(producers: [String], lanes: [LaneRecord]) -> QuarantinedEntry {
        QuarantinedEntry(
            uid: UID(uid), lane: lanes[checked: lane]?.key, producer: producers.name(of: producer), fault: fault,
            isPossiblySent: isPossiblySent, quarantinedAt: at, record: record)
    }
}

extension RecordFault {
    init(_ fault: EntryRecord.Fault) {
        switch fault {
        case .newer(let version): self = .newerVersion(version)
        case .damaged(let what): self = .damaged(what)
        }
    }
}
