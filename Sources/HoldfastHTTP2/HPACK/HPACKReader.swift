/// Reads header blocks (RFC 7541), each on top of those before it. A pure machine.
///
/// What it keeps from block to block is bounded by the dynamic table's size, ``maxCredentials`` and ``maxScratch``.
package struct HPACKReader: Sendable {
    package enum Failure: Error, Equatable {
        /// No header block: a connection error COMPRESSION_ERROR.
        case malformed
        /// The fields are more than `maxListSize` allows.
        case listTooLong
    }

    /// Bytes of credentials, as they were coded, that are known again.
    static let maxCredentials = 4096

    /// Bytes of room for decoded strings that are kept for the next one.
    static let maxScratch = 4096

    private var table: HPACKTable
    private let maxListSize: Int
    private let huffman = HuffmanCode.standard
    /// Where Huffman-coded strings are decoded.
    private var scratch: [UInt8] = []
    private var credentials = Credentials()

    /// The value that came last for `authorization`.
    ///
    /// Senders repeat it with every request, and many do not let it be indexed (RFC 7541 §7.1.3), so that it is by far the
    /// longest string of each block. Coded in the same way it is the same string.
    private struct Credentials {
        /// The string with the length before it; empty for none.
        var coded: [UInt8] = []
        var field: HeaderField?
    }

    /// - Parameters:
    ///   - tableSize: what the peer's encoder may keep in our dynamic table.
    ///   - maxListSize: bytes of one block's fields, as RFC 9113 §10.5.1 counts them.
    package init(tableSize: Int, maxListSize: Int) {
        table = HPACKTable(limit: tableSize)
        self.maxListSize = maxListSize
    }

    /// What the peer's encoder may keep, from the next block on.
    package var tableSize: Int {
        get { table.limit }
        set { table.limit = newValue }
    }

    /// Reads a whole block. One that fails leaves the table in no defined state: the connection is over.
    package mutating func read(_ block: Span<UInt8>) throws(Failure) -> [HeaderField] {
        var fields: [HeaderField] = []
        fields.reserveCapacity(16)
        var listSize = 0
        var sizeUpdates = 0
        var offset = 0
        while offset < block.count {
            let first = block[offset]
            if first & 0xe0 == 0x20 {
                // Only before the first field, and at most the smallest and the last of several (§4.2).
                sizeUpdates += 1
                let size = try block.hpackInteger(prefix: 5, at: &offset)
                guard fields.isEmpty, sizeUpdates <= 2, size <= table.limit else { throw .malformed }
                table.resize(to: size)
                continue
            }
            let field = first & 0x80 != 0 ? try indexed(block, &offset) : try literal(first, block, &offset)
            listSize += field.size
            guard listSize <= maxListSize else { throw .listTooLong }
            fields.append(field)
        }
        return fields
    }

    /// A field that a table holds (§6.1).
    private func indexed(_ block: Span<UInt8>, _ offset: inout Int) throws(Failure) -> HeaderField {
        guard let field = table[try block.hpackInteger(prefix: 7, at: &offset)] else { throw .malformed }
        return field
    }

    /// A field with its value, and its name or where that is found (§6.2).
    private mutating func literal(
        _ first: UInt8, _ block: Span<UInt8>, _ offset: inout Int
    ) throws(Failure) -> HeaderField {
        let isIndexed = first & 0x40 != 0
        let index = try block.hpackInteger(prefix: isIndexed ? 6 : 4, at: &offset)
        if index == HPACKStaticIndex.authorization, !isIndexed { return try authorization(block, &offset) }
        let name: String
        let nameCount: Int
        if index > 0 {
            guard let named = table[index] else { throw .malformed }
            (name, nameCount) = (named.name, named.nameCount)
        } else {
            (name, nameCount) = try string(block, &offset)
            // RFC 7541 has nothing against it, but no message may have such a field.
            guard nameCount > 0 else { throw .malformed }
        }
        let (value, valueCount) = try string(block, &offset)
        let field = HeaderField(name: name, value: value, nameCount: nameCount, valueCount: valueCount)
        if isIndexed { table.add(field) }
        return field
    }

    private mutating func authorization(_ block: Span<UInt8>, _ offset: inout Int) throws(Failure) -> HeaderField {
        if let field = credentials.field, block.has(credentials.coded, at: offset) {
            offset += credentials.coded.count
            return field
        }
        let start = offset
        let (value, count) = try string(block, &offset)
        let name = "authorization"
        let field = HeaderField(name: name, value: value, nameCount: name.utf8.count, valueCount: count)
        if offset - start <= Self.maxCredentials {
            credentials.coded.removeAll(keepingCapacity: true)
            credentials.coded.append(copying: block.extracting(start..<offset))
            credentials.field = field
        }
        return field
    }

    /// A string, and its bytes before any that are no UTF-8 were replaced.
    private mutating func string(_ block: Span<UInt8>, _ offset: inout Int) throws(Failure) -> (String, Int) {
        let (place, isHuffman) = try block.hpackString(at: &offset)
        guard isHuffman else { return (Self.text(block.extracting(place)), place.count) }
        guard let count = huffman.decode(block.extracting(place), into: &scratch) else { throw .malformed }
        let text = Self.text(scratch.span.extracting(0..<count))
        if scratch.count > Self.maxScratch { scratch = [] }
        return (text, count)
    }

    private static func text(_ bytes: Span<UInt8>) -> String {
        if let valid = try? UTF8Span(validating: bytes) { return String(copying: valid) }
        var copy: [UInt8] = []
        copy.append(copying: bytes)
        return String(decoding: copy, as: UTF8.self)
    }
}
