/// Primitives that read a header block (RFC 7541 §5) from `offset` on, and move `offset` behind the read bytes.
extension Span<UInt8> {
    /// An integer. (§5.1)
    @inline(__always)
    func hpackInteger(prefix: Int, at offset: inout Int) throws(HPACKReader.Failure) -> Int {
        guard offset < count else { throw .malformed }
        let greatest = UInt8(truncatingIfNeeded: 1 << prefix &- 1)
        let first = self[offset] & greatest
        offset &+= 1
        return first < greatest ? Int(first) : try longHPACKInteger(Int(first), &offset)
    }

    private func longHPACKInteger(_ first: Int, _ offset: inout Int) throws(HPACKReader.Failure) -> Int {
        var value = first
        // 28 bits more are far beyond every size and index there is; some write zeros behind them.
        for shift in stride(from: 0, to: 63, by: 7) {
            guard offset < count else { throw .malformed }
            let byte = self[offset]
            offset += 1
            let bits = Int(byte & 0x7f)
            guard shift < 28 || bits == 0 else { throw .malformed }
            value += bits << shift
            if byte & 0x80 == 0 { return value }
        }
        throw .malformed
    }

    /// The range of a string, and whether it is Huffman-coded. (§5.2)
    @inline(__always)
    func hpackString(at offset: inout Int) throws(HPACKReader.Failure) -> (place: Range<Int>, isHuffman: Bool) {
        let isHuffman = offset < count && self[offset] & 0x80 != 0
        let length = try hpackInteger(prefix: 7, at: &offset)
        guard length <= count &- offset else { throw .malformed }
        let start = offset
        offset &+= length
        return (start..<offset, isHuffman)
    }

    /// Whether these bytes come next.
    package func has(_ expected: [UInt8], at offset: Int) -> Bool {
        guard expected.count <= count - offset else { return false }
        let expectedBytes = expected.span
        let bytes = extracting(offset..<offset + expected.count)
        // Without a way out in the middle, many bytes are compared at a time.
        var difference: UInt8 = 0
        for index in expectedBytes.indices { difference |= expectedBytes[index] ^ bytes[index] }
        return difference == 0
    }
}
