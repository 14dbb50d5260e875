import Holdfast
import HoldfastLMDB

/// A notification as it lies in `entries` and `deferred`. Little-endian; see Docs/Internals/JournalFormat.md.
///
///     0   u64  XXH64 of everything from 8 to the end
///     8   u8×4 "HFnr"
///     12  u8   version, 1
///     13  u8   flags: 1 possibly sent, 2 has a remembered identity, 4 moved to the other environment
///     14  u16  attempts
///     16  u32  lane
///     20  u16  producer
///     22  u8   length of the last reason
///     23  u8   0
///     24  u64  UID
///     32  u32  length of the packed notification
///     36       packed notification · last reason (UTF-8)
struct EntryRecord {
    static let version: UInt8 = 1
    static let headerByteCount = 36
    static let magic: UInt32 = 0x726E_4648  // "HFnr"

    struct Flags: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let possiblySent = Flags(rawValue: 1)
        static let hasIdentity = Flags(rawValue: 2)
        static let isMoved = Flags(rawValue: 4)
    }

    /// The head of a record.
    struct Head: Hashable {
        var lane: UInt32
        var uid: UInt64
        var producer: UInt16
        var attempts: UInt16 = 0
        var flags: Flags = []
    }

    var head: Head
    /// Where the packed notification lies in the record.
    var body: Range<Int>
    /// Where the last reason lies.
    var reason: Range<Int>

    /// The fault of bytes that are not a record.
    enum Fault: Error, Hashable {
        case newer(UInt8)
        case damaged(String)
    }

    /// Reads and checks a record in place.
    ///
    /// - Parameter lane: what its key says; a record in another's place is damage as well.
    static func read(_ bytes: Span<UInt8>, lane: UInt32, uid: UInt64) -> Result<EntryRecord, Fault> {
        guard bytes.count >= headerByteCount, bytes.load(UInt32.self, at: 8) == magic else {
            return .failure(.damaged(Fault.strange(bytes) ?? "it does not begin as a record does"))
        }
        guard bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8) else {
            return .failure(.damaged("its checksum is wrong"))
        }
        guard bytes[12] == version else { return .failure(.newer(bytes[12])) }
        let bodyEnd = headerByteCount + Int(bytes.load(UInt32.self, at: 32))
        let record = EntryRecord(
            head: uncheckedHead(bytes), body: headerByteCount..<bodyEnd, reason: bodyEnd..<(bodyEnd + Int(bytes[22])))
        guard record.reason.upperBound == bytes.count else { return .failure(.damaged("its lengths do not add up")) }
        guard record.head.lane == lane, record.head.uid == uid else {
            return .failure(.damaged("it is the record of lane \(record.head.lane), UID \(record.head.uid)"))
        }
        return .success(record)
    }

    /// Reads a record in place whose checksum was checked when it was handed out: its lengths and its key are looked at, and no
    /// more. Checking it again would be half of what it costs to log an outcome.
    ///
    /// - Returns: nil for one that cannot be the record.
    @inline(__always)
    static func trusted(_ bytes: Span<UInt8>, lane: UInt32, uid: UInt64) -> EntryRecord? {
        guard bytes.count >= headerByteCount, bytes.load(UInt32.self, at: 8) == magic, bytes[12] == version else {
            return nil
        }
        let head = uncheckedHead(bytes)
        let bodyEnd = headerByteCount + Int(bytes.load(UInt32.self, at: 32))
        guard head.lane == lane, head.uid == uid, bodyEnd + Int(bytes[22]) == bytes.count else { return nil }
        return EntryRecord(head: head, body: headerByteCount..<bodyEnd, reason: bodyEnd..<bytes.count)
    }

    /// The head as it stands there, for settling, which goes through whatever the record looks like: of a damaged one any
    /// of it may be wrong, and whoever uses it must be able to live with that. Zeros when there are not even so many bytes.
    static func uncheckedHead(_ bytes: Span<UInt8>) -> Head {
        guard bytes.count >= headerByteCount else { return Head(lane: 0, uid: 0, producer: 0) }
        return Head(
            lane: bytes.load(UInt32.self, at: 16), uid: bytes.load(UInt64.self, at: 24),
            producer: bytes.load(UInt16.self, at: 20), attempts: bytes.load(UInt16.self, at: 14),
            flags: Flags(rawValue: bytes[13]))
    }

    static func byteCount(body: Int, reason: Int = 0) -> Int { headerByteCount + body + reason }

    /// Writes a new record into exactly ``byteCount(body:reason:)`` bytes.
    static func write(
        _ head: Head, body: Range<Int>, of source: Span<UInt8>, reason: Span<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) {
        output.store(magic, at: 8)
        output.store(version, at: 12)
        output.store(head.flags.rawValue, at: 13)
        output.store(head.attempts, at: 14)
        output.store(head.lane, at: 16)
        output.store(head.producer, at: 20)
        output.store(UInt16(UInt8(reason.count)), at: 22)
        output.store(head.uid, at: 24)
        output.store(UInt32(body.count), at: 32)
        output.copy(body, of: source, to: headerByteCount)
        output.copy(0..<reason.count, of: reason, to: headerByteCount + body.count)
        output.store(XXH64.hash(output.span, from: 8), at: 0)
    }
}

extension EntryRecord.Fault {
    func error(lane: UInt32, uid: UInt64, in directory: String) -> JournalError {
        switch self {
        case .newer(let version):
            JournalError(
                .newerFormat,
                "\(directory): the record of lane \(lane), UID \(uid) has version \(version); this Holdfast reads up to "
                    + "\(EntryRecord.version). Use a newer one.")
        case .damaged(let what):
            .damaged(
                "\(directory): the record of lane \(lane), UID \(uid) is damaged: \(what). Nothing else is affected; reject "
                    + "that entry, or salvage the journal", in: directory)
        }
    }
}
