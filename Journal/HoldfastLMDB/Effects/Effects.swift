/// The changes of a transaction, as bytes: XXH64 of the rest (u64) · `HFef` · version (u8) · three zeros · changes in their order.
///
/// A change begins with a byte: its kind in the highest two bits, the number of its table in the others.
///
/// | kind | what follows |
/// |---|---|
/// | 0, a table gets the number | length (u8), name |
/// | 1, put | what of the key is shared with the table's last one (u8), the rest's length (u16), the value's (u32), the rest, the value |
/// | 2, delete | the first two of those, and the rest |
///
/// A table that was made has its number though nothing is put into it. Integers are little-endian. The keys of a commit mostly
/// follow each other, so that a deletion takes some six bytes.
package enum Effects {
    static let headerByteCount = 16
    static let magic: UInt32 = 0x6665_4648
    static let version: UInt8 = 1
    /// Numbers of tables are below it.
    static let tableLimit = 63

    enum Kind: UInt8 {
        case table, put, delete
    }

    /// Why bytes are no effects.
    package enum Damage: Error, Hashable, Sendable {
        /// Shorter than a header, of another kind, or their checksum is another.
        case unreadable
        /// Written by a newer program.
        case version(UInt8)
        /// The checksum holds, and the change at this byte can't be.
        case malformed(at: Int)
    }

    /// Reads all changes, without making any.
    package static func check(_ bytes: [UInt8]) throws(Damage) {
        var reader = try EffectReader(bytes.span)
        while try reader.next(bytes.span) != nil {}
    }
}

/// Writes changes one behind the other.
package struct EffectWriter: ~Copyable {
    private var bytes = [UInt8](repeating: 0, count: Effects.headerByteCount)
    private var lastKeys: [[UInt8]] = []

    package init() {}

    package var isEmpty: Bool { bytes.count == Effects.headerByteCount }
    package var byteCount: Int { bytes.count }

    /// - Returns: the number by which changes name the table; nil when there are too many of them.
    package mutating func table(_ name: String) -> Int? {
        guard lastKeys.count < Effects.tableLimit, name.utf8.count <= Int(UInt8.max) else { return nil }
        lastKeys.append([])
        begin(.table, lastKeys.count - 1)
        bytes.append(UInt8(name.utf8.count))
        bytes.append(contentsOf: name.utf8)
        return lastKeys.count - 1
    }

    package mutating func put(_ key: Span<UInt8>, _ value: Span<UInt8>, in table: Int) {
        begin(.put, table)
        let shared = putLengths(of: key, in: table)
        append(UInt32(value.count))
        key.append(shared..<key.count, to: &bytes)
        value.append(0..<value.count, to: &bytes)
    }

    package mutating func delete(_ key: Span<UInt8>, in table: Int) {
        begin(.delete, table)
        let shared = putLengths(of: key, in: table)
        key.append(shared..<key.count, to: &bytes)
    }

    private mutating func begin(_ kind: Effects.Kind, _ table: Int) {
        bytes.append(kind.rawValue << 6 | UInt8(table))
    }

    /// - Returns: how much of the key is shared with the last one.
    private mutating func putLengths(of key: Span<UInt8>, in table: Int) -> Int {
        let last = lastKeys[table]
        let most = min(last.count, key.count, Int(UInt8.max))
        var shared = 0
        while shared < most, last[shared] == key[shared] { shared += 1 }
        bytes.append(UInt8(shared))
        append(UInt16(key.count - shared))
        lastKeys[table].removeSubrange(shared...)
        key.append(shared..<key.count, to: &lastKeys[table])
        return shared
    }

    private mutating func append<T: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(_ value: T) {
        let position = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: MemoryLayout<T>.size))
        var span = bytes.mutableSpan
        span.store(value, at: position)
    }

    /// The bytes with their header.
    package consuming func finish() -> [UInt8] {
        var bytes = bytes
        var span = bytes.mutableSpan
        span.store(Effects.magic, at: 8)
        span[12] = Effects.version
        span.store(XXH64.hash(span.span, from: 8, seed: 0), at: 0)
        return bytes
    }
}
