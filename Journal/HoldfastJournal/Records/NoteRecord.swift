import Holdfast
import HoldfastLMDB

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
