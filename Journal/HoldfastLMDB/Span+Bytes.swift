import HoldfastPlatform

/// Fast, bounds-checked access to bytes that lie in a page of the map or in a submitter's buffer.
///
/// The loads and copies below are single instructions or `memcpy`; element by element they would be most of the cost of
/// a read. That is why they are here, beside the other `unsafe` code, and nowhere else.
extension Span<UInt8> {
    /// The little-endian integer at `offset`.
    ///
    /// - Precondition: it lies within the span.
    @inlinable package func load<T: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(_: T.Type, at offset: Int)
        -> T
    {
        precondition(offset >= 0 && offset <= count - MemoryLayout<T>.size, "a load outside of the bytes")
        return unsafe withUnsafeBytes { bytes in
            unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
    }

    /// Appends a part of the bytes to `output`.
    ///
    /// - Precondition: `range` lies within the span.
    package func append(_ range: Range<Int>, to output: inout [UInt8]) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a copy from outside of the bytes")
        unsafe withUnsafeBufferPointer { bytes in
            unsafe output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Whether a part of the bytes is equal to a part of others.
    ///
    /// - Precondition: both lie within their spans.
    package func hasSame(_ range: Range<Int>, as other: Span<UInt8>, at otherRange: Range<Int>) -> Bool {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a comparison outside of the bytes")
        precondition(
            otherRange.lowerBound >= 0 && otherRange.upperBound <= other.count, "a comparison outside of the bytes")
        guard range.count == otherRange.count else { return false }
        guard !range.isEmpty else { return true }
        return unsafe withUnsafeBytes { bytes in
            unsafe other.withUnsafeBytes { others in
                unsafe memcmp(
                    bytes.baseAddress!.advanced(by: range.lowerBound),
                    others.baseAddress!.advanced(by: otherRange.lowerBound), range.count) == 0
            }
        }
    }

    /// A copy of all bytes.
    package var array: [UInt8] {
        var output: [UInt8] = []
        append(0..<count, to: &output)
        return output
    }
}

extension MutableSpan<UInt8> {
    /// Stores a little-endian integer at `offset`.
    ///
    /// - Precondition: it lies within the span.
    @inlinable package mutating func store<T: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ value: T, at offset: Int
    ) {
        precondition(offset >= 0 && offset <= count - MemoryLayout<T>.size, "a store outside of the bytes")
        unsafe withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
        }
    }

    /// Copies `range` of `source` to `offset`.
    ///
    /// - Precondition: both lie within their spans.
    package mutating func copy(_ range: Range<Int>, of source: Span<UInt8>, to offset: Int) {
        precondition(range.lowerBound >= 0 && range.upperBound <= source.count, "a copy from outside of the bytes")
        precondition(offset >= 0 && offset <= count - range.count, "a copy to outside of the bytes")
        guard !range.isEmpty else { return }
        unsafe withUnsafeMutableBytes { bytes in
            unsafe source.withUnsafeBytes { from in
                unsafe bytes.baseAddress!.advanced(by: offset).copyMemory(
                    from: from.baseAddress!.advanced(by: range.lowerBound), byteCount: range.count)
            }
        }
    }
}
