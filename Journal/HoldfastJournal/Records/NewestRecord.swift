import Holdfast
import HoldfastLMDB

/// The open entries of one key of which the newest wins, as they lie in `newest`: u64 XXH64 of the rest, whose seed is the
/// hash of the key · u64 UID of the newest, 0 for none · u32 how many have not ended · u32 Unix seconds from which the newest is
/// expired, 0 for never · u64 UID of the last one that the service took, 0 for none. The key is the digest, its first half
/// first, big-endian.
enum NewestRecord {
    static let keyByteCount = 16
    static let byteCount = 32

    static func key(_ key: NewestKey) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(key.high.byteSwapped)
        bytes.appendLittleEndian(key.low.byteSwapped)
        return bytes
    }

    static func bytes(_ entries: NewestEntries, key: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(UInt64(0))
        bytes.appendLittleEndian(entries.newest.rawValue)
        bytes.appendLittleEndian(entries.open)
        bytes.appendLittleEndian(entries.expiration)
        bytes.appendLittleEndian(entries.taken.rawValue)
        var span = bytes.mutableSpan
        span.store(XXH64.hash(span.span, from: 8, seed: XXH64.hash(key.span)), at: 0)
        return bytes
    }

    /// - Returns: nil for damage.
    static func read(_ bytes: [UInt8], key: [UInt8]) -> NewestEntries? {
        let span = bytes.span
        guard bytes.count == byteCount,
            span.load(UInt64.self, at: 0) == XXH64.hash(span, from: 8, seed: XXH64.hash(key.span)),
            span.load(UInt32.self, at: 16) > 0
        else { return nil }
        return NewestEntries(
            newest: UID(span.load(UInt64.self, at: 8)), open: span.load(UInt32.self, at: 16),
            expiration: span.load(UInt32.self, at: 20), taken: UID(span.load(UInt64.self, at: 24)))
    }
}

extension NewestRecord {
    /// The key of an entry's record; nil where it goes whatever comes after it.
    static func key(ofRecord record: Span<UInt8>, _ secret: IdentityKey) -> NewestKey? {
        let start = EntryRecord.headerByteCount
        guard record.count > start else { return nil }
        let end = start + Int(record.load(UInt32.self, at: 32))
        guard end <= record.count else { return nil }
        return NewestKey(packed: record, in: start..<end, key: secret)
    }

    /// The expiration of an entry that has a key.
    static func expiration(ofRecord record: Span<UInt8>) -> Int64 {
        let start = EntryRecord.headerByteCount
        return PackedNotification.expiration(of: record, in: start..<start + Int(record.load(UInt32.self, at: 32)))
    }
}
