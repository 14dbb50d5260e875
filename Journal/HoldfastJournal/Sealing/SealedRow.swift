import Holdfast
import HoldfastLMDB
import HoldfastOpenSSL

/// A row as it is sealed. Little-endian; see Docs/Internals/JournalFormat.md.
///
///     0   u64  XXH64 of everything from 8 to the end
///     8   u8×4 "HFse"
///     12  u8   version, 1
///     13  u8   number of the table × 8
///     14  u16  0
///     16  u32  length of what is sealed, with its tag
///     20  u16  0
///     22  u16  length of the key
///     24  u64  id of the key that sealed it
///     32  u8×12 salt
///     44  u64  counter
///     52       the row's key as it is stored · what is sealed · its tag, 16 bytes
///
/// Everything from 8 up to what is sealed is bound to it. What would be an entry's flags, attempts and Producer in an entry
/// record is zero here, so that whoever settles a row that cannot be opened counts nothing for anybody.
enum SealedRow {
    static let magic: UInt32 = 0x6573_4648  // "HFse"
    static let version: UInt8 = 1
    static let headByteCount = 52
    static let saltByteCount = 12
    static let tagByteCount = AES256GCM.tagByteCount
    /// The most that is sealed in one row; more is damage.
    static let greatestByteCount = 64 << 20

    /// The tables whose rows are sealed, by their numbers.
    enum Kind: UInt8 {
        case entries = 1
        case deferred, rejections, aside, outcomeLog, outcomes, notes, quarantine, state
        case tokens, addresses, index
        /// What a salvage writes down for itself.
        case scratch = 31
    }

    /// The head of a row that is one by its letters and lengths.
    struct Head: Hashable {
        let kind: UInt8
        let id: SealKeyID
        let salt: Salt
        let counter: UInt64
        /// Where the key lies.
        let key: Range<Int>
        /// Where what is sealed lies, with its tag.
        let sealed: Range<Int>
    }

    static func byteCount(_ count: Int, storedKey: Int) -> Int { headByteCount + storedKey + count + tagByteCount }

    /// Whether a value begins as a sealed row does.
    static func begins(_ bytes: Span<UInt8>) -> Bool {
        bytes.count >= headByteCount && bytes.load(UInt32.self, at: 8) == magic
    }

    /// The length that the row which begins at `start` says it has; nil where none begins.
    static func byteCount(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        guard start + headByteCount <= bytes.count, bytes.load(UInt32.self, at: start + 8) == magic else { return nil }
        let sealed = Int(bytes.load(UInt32.self, at: start + 16))
        guard (tagByteCount...greatestByteCount).contains(sealed) else { return nil }
        return headByteCount + Int(bytes.load(UInt16.self, at: start + 22)) + sealed
    }

    /// Reads and checks the head, and the checksum of the whole.
    static func head(_ bytes: Span<UInt8>) throws(EntryRecord.Fault) -> Head {
        guard begins(bytes) else { throw .damaged("it is not sealed, and the journal is") }
        guard bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8) else {
            throw .damaged("its checksum is wrong")
        }
        guard bytes[12] == version else { throw .newer(bytes[12]) }
        guard byteCount(bytes, at: 0) == bytes.count else { throw .damaged("its lengths do not add up") }
        let keyEnd = headByteCount + Int(bytes.load(UInt16.self, at: 22))
        return Head(
            kind: bytes[13], id: SealKeyID(rawValue: bytes.load(UInt64.self, at: 24)),
            salt: Salt(low: bytes.load(UInt64.self, at: 32), high: bytes.load(UInt32.self, at: 40)),
            counter: bytes.load(UInt64.self, at: 44), key: headByteCount..<keyEnd, sealed: keyEnd..<bytes.count)
    }

    /// The nonce of a row: four zeros, and its counter.
    static func nonce(_ counter: UInt64) -> InlineArray<12, UInt8> {
        var nonce = InlineArray<12, UInt8>(repeating: 0)
        var bytes = nonce.mutableSpan
        bytes.store(counter, at: 4)
        return nonce
    }

    /// Of one opening of a journal: little-endian, the first eight bytes and the last four.
    struct Salt: Hashable {
        var low: UInt64
        var high: UInt32

        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            bytes.appendLittleEndian(low)
            bytes.appendLittleEndian(high)
            return bytes
        }
    }

    /// Writes all but what is sealed and the checksum.
    static func writeHead(
        _ kind: Kind, _ id: SealKeyID, _ salt: Salt, counter: UInt64, sealed count: Int, key: Span<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) {
        output.store(magic, at: 8)
        output.store(version, at: 12)
        output.store(kind.rawValue &<< 3, at: 13)
        output.store(UInt16(0), at: 14)
        output.store(UInt32(count), at: 16)
        output.store(UInt16(0), at: 20)
        output.store(UInt16(key.count), at: 22)
        output.store(id.rawValue, at: 24)
        output.store(salt.low, at: 32)
        output.store(salt.high, at: 40)
        output.store(counter, at: 44)
        output.copy(0..<key.count, of: key, to: headByteCount)
    }
}
