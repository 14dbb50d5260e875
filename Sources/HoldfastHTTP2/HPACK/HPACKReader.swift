/// Reads header blocks (RFC 7541), each on top of those before it. A pure machine.
///
/// Between blocks it keeps the dynamic table, whose size the peer is told, and at most ``maxCredentials`` bytes twice.
package struct HPACKReader: Sendable {
    package enum Failure: Error, Equatable {
        /// The bytes are no header block: a connection error COMPRESSION_ERROR.
        case malformed
        /// The fields are more than `maxListSize` allows.
        case listTooLong
    }

    /// Bytes of credentials, as they were coded, that are known again.
    static let maxCredentials = 4096

    private var table: HPACKTable
    private let maxListSize: Int
    private let names: HeaderNames
    private let huffman = HuffmanCode.standard
    private var credentials = Credentials()

    /// The value that came last for `authorization`.
    ///
    /// Senders repeat it with every request, and many do not let it be indexed (RFC 7541 §7.1.3), so that it is by far the
    /// longest string of each block. Coded in the same way it is the same string.
    private struct Credentials {
        /// The string with the length before it; empty for none.
        var coded: [UInt8] = []
        /// The decoded value, and the kind of the field.
        var value: [UInt8] = []
        var kind = HeaderField.Kind.malformed
    }

    /// - Parameters:
    ///   - tableSize: the bytes that the peer's encoder may keep in our dynamic table.
    ///   - maxListSize: the most bytes of one block's fields, as RFC 9113 §10.5.1 counts them.
    ///   - names: names that the fields' ``HeaderList/Field/number`` tells apart.
    package init(tableSize: Int, maxListSize: Int, names: HeaderNames = .none) {
        table = HPACKTable(limit: tableSize, names: names)
        self.maxListSize = maxListSize
        self.names = names
    }

    /// The bytes that the peer's encoder may keep, from the next block on.
    package var tableSize: Int {
        get { table.limit }
        set { table.limit = newValue }
    }

    /// Reads a whole block. A failure leaves the table undefined: the connection is over.
    ///
    /// - Parameter list: empty.
    package mutating func read(_ block: Span<UInt8>, into list: inout HeaderList) throws(Failure) {
        var listSize = 0
        var sizeUpdates = 0
        var offset = 0
        while offset < block.count {
            let first = block[offset]
            if first & 0xe0 == 0x20 {
                // Only before the first field, and at most the smallest and the last of several (§4.2).
                sizeUpdates += 1
                let size = try block.hpackInteger(prefix: 5, at: &offset)
                guard list.isEmpty, sizeUpdates <= 2, size <= table.limit else { throw .malformed }
                table.resize(to: size)
                continue
            }
            if first & 0x80 != 0 {
                try indexed(block, &offset, &list)
            } else {
                try literal(first, block, &offset, &list)
            }
            listSize &+= list.fields[list.count &- 1].size
            guard listSize <= maxListSize else { throw .listTooLong }
        }
    }

    /// A field that a table holds (§6.1).
    @inline(__always)
    private func indexed(_ block: Span<UInt8>, _ offset: inout Int, _ list: inout HeaderList) throws(Failure) {
        let index = try block.hpackInteger(prefix: 7, at: &offset)
        guard table.withEntry(index, { list.append($0, of: $1) }) != nil else { throw .malformed }
    }

    /// A field with its value, and its name or where that is found (§6.2).
    private mutating func literal(
        _ first: UInt8, _ block: Span<UInt8>, _ offset: inout Int, _ list: inout HeaderList
    ) throws(Failure) {
        let isIndexed = first & 0x40 != 0
        let index = try block.hpackInteger(prefix: isIndexed ? 6 : 4, at: &offset)
        let start = list.bytes.count
        var code = HeaderNames.unknown
        if index > 0 {
            let named = table.withEntry(index) { field, entries in
                list.appendBytes(entries.bytes[field.name])
                return field.code
            }
            guard let named else { throw .malformed }
            code = named
        } else {
            try string(block, &offset, &list)
            // RFC 7541 has nothing against it, but no message may have such a field.
            guard list.bytes.count > start else { throw .malformed }
            code = names.code(of: list.bytes.span.extracting(start..<list.bytes.count))
        }
        let nameCount = list.bytes.count - start
        if index == HPACKStaticIndex.authorization, !isIndexed {
            return try authorization(block, &offset, &list, from: start, nameCount: nameCount, code)
        }
        try string(block, &offset, &list)
        list.endField(from: start, nameCount: nameCount, code)
        if isIndexed { table.add(list.fields[list.count - 1], of: list) }
    }

    /// The value of such a field, whose name is in the list.
    private mutating func authorization(
        _ block: Span<UInt8>, _ offset: inout Int, _ list: inout HeaderList, from start: Int, nameCount: Int,
        _ code: HeaderNames.Code
    ) throws(Failure) {
        if !credentials.coded.isEmpty, block.has(credentials.coded, at: offset) {
            offset += credentials.coded.count
            list.appendBytes(credentials.value[...])
            return list.endField(from: start, nameCount: nameCount, code, credentials.kind)
        }
        let codedStart = offset
        try string(block, &offset, &list)
        list.endField(from: start, nameCount: nameCount, code)
        guard offset - codedStart <= Self.maxCredentials else { return }
        let field = list.fields[list.count - 1]
        credentials.coded.removeAll(keepingCapacity: true)
        credentials.coded.append(copying: block.extracting(codedStart..<offset))
        credentials.value.removeAll(keepingCapacity: true)
        credentials.value.append(copying: list.bytes.span.extracting(field.value))
        credentials.kind = field.kind
    }

    /// Appends a string to the list's bytes.
    @inline(__always)
    private func string(_ block: Span<UInt8>, _ offset: inout Int, _ list: inout HeaderList) throws(Failure) {
        let (place, isHuffman) = try block.hpackString(at: &offset)
        if !isHuffman {
            list.appendBytes(block.extracting(place))
        } else if !list.appendBytes(decoding: block.extracting(place), huffman) {
            throw .malformed
        }
    }
}
