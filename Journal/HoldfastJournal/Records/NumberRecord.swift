import Holdfast
import HoldfastLMDB

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
