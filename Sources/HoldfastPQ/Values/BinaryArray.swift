/// PostgreSQL's arrays in binary format: the number of dimensions, whether there are nulls, the type of elements; for each
/// dimension its length and first index; then each element behind its length.
enum BinaryArray {
    /// Passes each element of an array of at most one dimension.
    ///
    /// - Returns: what is wrong with it; `nil` when it was read to its end.
    static func fault(
        in bytes: Span<UInt8>, of element: PQType, _ take: (Span<UInt8>, Range<Int>) -> Bool
    ) -> String? {
        guard bytes.count >= 12 else { return "it is too short" }
        let dimensions = bytes.bigEndian(UInt32.self, at: 0)
        guard dimensions <= 1 else { return "it has \(dimensions) dimensions" }
        let found = PQType(rawValue: bytes.bigEndian(UInt32.self, at: 8))
        guard found == element else { return "its elements are \(found)" }
        if dimensions == 0 { return bytes.count == 12 ? nil : "it is empty, and goes on" }
        guard bytes.count >= 20 else { return "it is too short" }
        var offset = 20
        for _ in 0..<bytes.bigEndian(UInt32.self, at: 12) {
            guard bytes.count - offset >= 4 else { return "it ends too early" }
            let count = Int(Int32(bitPattern: bytes.bigEndian(UInt32.self, at: offset)))
            offset += 4
            guard count >= 0 else { return "it has a null" }
            guard bytes.count - offset >= count else { return "it ends too early" }
            guard take(bytes, offset..<offset + count) else { return "an element has \(count) bytes" }
            offset += count
        }
        return offset == bytes.count ? nil : "it goes on behind its end"
    }
}

extension Span<UInt8> {
    /// - Precondition: it lies within the span.
    func bigEndian<T: FixedWidthInteger & UnsignedInteger>(_: T.Type, at offset: Int) -> T {
        var value: T = 0
        for index in offset..<offset + T.bitWidth / 8 { value = value << 8 | T(self[index]) }
        return value
    }

    /// - Precondition: `range` lies within the span.
    func copy(_ range: Range<Int>) -> [UInt8] {
        unsafe extracting(range).withUnsafeBufferPointer { unsafe Array($0) }
    }
}
