/// Reads changes in the order in which they were written. Any bytes are readable: what is no effects is thrown as damage.
package struct EffectReader {
    /// Ranges are of the bytes that are read.
    package enum Change: Hashable, Sendable {
        case put(table: Int, key: [UInt8], value: Range<Int>)
        case delete(table: Int, key: [UInt8])
    }

    /// The names of the tables so far; their indices are the numbers.
    package private(set) var tables: [String] = []
    private var lastKeys: [[UInt8]] = []
    private var position = Effects.headerByteCount

    package init(_ bytes: Span<UInt8>) throws(Effects.Damage) {
        guard bytes.count >= Effects.headerByteCount, bytes.load(UInt32.self, at: 8) == Effects.magic else {
            throw .unreadable
        }
        guard bytes[12] == Effects.version else { throw .version(bytes[12]) }
        guard bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8, seed: 0) else { throw .unreadable }
    }

    /// - Returns: nil at the end.
    package mutating func next(_ bytes: Span<UInt8>) throws(Effects.Damage) -> Change? {
        while position < bytes.count {
            let start = position
            let (kind, number) = (Effects.Kind(rawValue: bytes[start] >> 6), Int(bytes[start] & 63))
            position += 1
            switch kind {
            case .table:
                guard number == tables.count, number < Effects.tableLimit else { throw .malformed(at: start) }
                tables.append(try name(bytes, start))
                lastKeys.append([])
            case .put:
                let (shared, rest) = try lengths(number, bytes, start)
                let valueCount = Int(try take(4, bytes, start) { bytes.load(UInt32.self, at: $0) })
                let key = try key(number, shared, rest, bytes, start)
                let value = try range(valueCount, bytes, start)
                return .put(table: number, key: key, value: value)
            case .delete:
                let (shared, rest) = try lengths(number, bytes, start)
                return .delete(table: number, key: try key(number, shared, rest, bytes, start))
            case nil: throw .malformed(at: start)
            }
        }
        return nil
    }

    private mutating func name(_ bytes: Span<UInt8>, _ start: Int) throws(Effects.Damage) -> String {
        let range = try range(Int(try take(1, bytes, start) { bytes[$0] }), bytes, start)
        var name: [UInt8] = []
        bytes.append(range, to: &name)
        guard !name.isEmpty, let text = String(validating: name, as: UTF8.self) else { throw .malformed(at: start) }
        return text
    }

    private mutating func lengths(
        _ table: Int, _ bytes: Span<UInt8>, _ start: Int
    ) throws(Effects.Damage) -> (shared: Int, rest: Int) {
        guard table < tables.count else { throw .malformed(at: start) }
        let shared = Int(try take(1, bytes, start) { bytes[$0] })
        guard shared <= lastKeys[table].count else { throw .malformed(at: start) }
        return (shared, Int(try take(2, bytes, start) { bytes.load(UInt16.self, at: $0) }))
    }

    private mutating func key(
        _ table: Int, _ shared: Int, _ rest: Int, _ bytes: Span<UInt8>, _ start: Int
    ) throws(Effects.Damage) -> [UInt8] {
        let range = try range(rest, bytes, start)
        lastKeys[table].removeSubrange(shared...)
        bytes.append(range, to: &lastKeys[table])
        // An empty key is none of liblmdb's.
        guard !lastKeys[table].isEmpty else { throw .malformed(at: start) }
        return lastKeys[table]
    }

    private mutating func take<T>(
        _ count: Int, _ bytes: Span<UInt8>, _ start: Int, _ read: (Int) -> T
    ) throws(Effects.Damage) -> T {
        let range = try range(count, bytes, start)
        return read(range.lowerBound)
    }

    private mutating func range(_ count: Int, _ bytes: Span<UInt8>, _ start: Int) throws(Effects.Damage) -> Range<Int> {
        guard count <= bytes.count - position else { throw .malformed(at: start) }
        defer { position += count }
        return position..<(position + count)
    }
}
