import Holdfast
import HoldfastLMDB

/// A notification as it lies in `entries` and `deferred`. Little-endian; see Docs/JournalFormat.md.
///
///     0   u64  XXH64 of everything from 8 to the end
///     8   u8×4 "HFnr"
///     12  u8   version, 1
///     13  u8   length of the last reason
///     14  u16  attempts
///     16  u32  lane
///     20  u32  length of the packed notification
///     24  u64  UID
///     32  i64  accepted at, milliseconds
///     40       packed notification · last reason (UTF-8)
struct EntryRecord {
    static let version: UInt8 = 1
    static let headerByteCount = 40
    static let magic: UInt32 = 0x726E_4648  // "HFnr"

    var lane: UInt32
    var uid: UInt64
    var attempts: UInt16
    var acceptedAt: Int64
    /// Where the packed notification lies in the record.
    var body: Range<Int>
    /// Where the last reason lies.
    var reason: Range<Int>

    /// Why bytes are not a record.
    enum Fault: Error, Hashable {
        case newer(UInt8)
        case damaged(String)
    }

    /// Reads and checks a record in place.
    ///
    /// - Parameter lane: what its key says; a record in another's place is damage as well.
    static func read(_ bytes: Span<UInt8>, lane: UInt32, uid: UInt64) -> Result<EntryRecord, Fault> {
        guard bytes.count >= headerByteCount, bytes.load(UInt32.self, at: 8) == magic else {
            return .failure(.damaged("it does not begin as a record does"))
        }
        guard bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8) else {
            return .failure(.damaged("its checksum is wrong"))
        }
        guard bytes[12] == version else { return .failure(.newer(bytes[12])) }
        let bodyEnd = headerByteCount + Int(bytes.load(UInt32.self, at: 20))
        let record = EntryRecord(
            lane: bytes.load(UInt32.self, at: 16), uid: bytes.load(UInt64.self, at: 24),
            attempts: bytes.load(UInt16.self, at: 14),
            acceptedAt: Int64(bitPattern: bytes.load(UInt64.self, at: 32)), body: headerByteCount..<bodyEnd,
            reason: bodyEnd..<(bodyEnd + Int(bytes[13])))
        guard record.reason.upperBound == bytes.count else { return .failure(.damaged("its lengths do not add up")) }
        guard record.lane == lane, record.uid == uid else {
            return .failure(.damaged("it is the record of lane \(record.lane), UID \(record.uid)"))
        }
        return .success(record)
    }

    static func byteCount(body: Int, reason: Int = 0) -> Int { headerByteCount + body + reason }

    /// Writes a new record into exactly ``byteCount(body:reason:)`` bytes.
    static func write(
        lane: UInt32, uid: UInt64, attempts: UInt16, acceptedAt: Int64, body: Range<Int>, of source: Span<UInt8>,
        reason: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) {
        output.store(magic, at: 8)
        output.store(version, at: 12)
        output.store(UInt8(reason.count), at: 13)
        output.store(attempts, at: 14)
        output.store(lane, at: 16)
        output.store(UInt32(body.count), at: 20)
        output.store(uid, at: 24)
        output.store(UInt64(bitPattern: acceptedAt), at: 32)
        output.copy(body, of: source, to: headerByteCount)
        output.copy(0..<reason.count, of: reason, to: headerByteCount + body.count)
        output.store(XXH64.hash(output.span, from: 8), at: 0)
    }

    /// When a packed notification was accepted, by its own word; 0 if it is too short to have one.
    static func acceptedAt(of packed: Range<Int>, in bytes: Span<UInt8>) -> Int64 {
        guard packed.count >= PackedNotification.headerByteCount else { return 0 }
        return Int64(bitPattern: bytes.load(UInt64.self, at: packed.lowerBound + 48))
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
            JournalError(
                .damaged,
                "\(directory): the record of lane \(lane), UID \(uid) is damaged: \(what). Nothing else is affected; "
                    + "reject that entry, or restore the journal.")
        }
    }
}
