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
            return .damaged(EntryRecord.Fault.strange(bytes) ?? "it does not begin as such a record does")
        }
        guard bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8, seed: seed) else {
            return .damaged("its checksum is wrong")
        }
        guard (1...newest).contains(bytes[12]) else { return .newer(bytes[12]) }
        guard bytes.count >= count else { return .damaged("it is too short") }
        return nil
    }
}
