/// Header fields as they were received, those of many messages one behind the other: their bytes in one buffer, and where
/// each of them lies, so that no field has an allocation or a reference count of its own.
///
/// The bytes are as they came. Names are lower case in every field of a message that was reported.
package struct HeaderList: Sendable, Equatable {
    /// The place of a field in ``HeaderList/bytes``: its name, and behind that its value.
    package struct Field: Sendable, Equatable {
        var offset: UInt32
        let nameCount, valueCount: UInt32
        let code: HeaderNames.Code
        package let kind: HeaderField.Kind

        package var name: Range<Int> { Int(offset)..<Int(offset) &+ Int(nameCount) }
        package var value: Range<Int> {
            let start = Int(offset) &+ Int(nameCount)
            return start..<start &+ Int(valueCount)
        }

        /// The number of its name in the reader's ``HeaderNames``; nil for none.
        package var number: Int? {
            code >= HeaderNames.firstOfReader ? Int(code &- HeaderNames.firstOfReader) : nil
        }

        /// Bytes that it counts for in a dynamic table, and in the list that ``HTTP2Limits/maxHeaderBlock`` bounds.
        var size: Int { HPACKWriter.entrySize(nameCount: Int(nameCount), valueCount: Int(valueCount)) }
    }

    package private(set) var bytes: [UInt8] = []
    package private(set) var fields: [Field] = []

    package init() {}

    package var isEmpty: Bool { fields.isEmpty }
    package var count: Int { fields.count }

    // MARK: Adding

    /// Adds the first bytes, or more, of a field that ``endField(from:nameCount:_:)`` ends.
    @inline(__always)
    mutating func appendBytes(_ more: Span<UInt8>) { bytes.append(copying: more) }

    /// The same of bytes that an array has, which are copied as one piece.
    @inline(__always)
    mutating func appendBytes(_ more: ArraySlice<UInt8>) { bytes.append(contentsOf: more) }

    /// The same of Huffman-coded bytes.
    ///
    /// - Returns: false where they are none.
    mutating func appendBytes(decoding coded: Span<UInt8>, _ code: HuffmanCode) -> Bool {
        code.decode(coded, appendingTo: &bytes)
    }

    /// Adds a field, whose bytes begin at `start`, and determines its kind.
    ///
    /// - Parameter code: the number of the name.
    @inline(__always)
    mutating func endField(from start: Int, nameCount: Int, _ code: HeaderNames.Code) {
        endField(from: start, nameCount: nameCount, code, kind(from: start, nameCount: nameCount, code))
    }

    /// Adds a field of a known kind.
    @inline(__always)
    mutating func endField(from start: Int, nameCount: Int, _ code: HeaderNames.Code, _ kind: HeaderField.Kind) {
        let field = Field(
            offset: UInt32(truncatingIfNeeded: start), nameCount: UInt32(truncatingIfNeeded: nameCount),
            valueCount: UInt32(truncatingIfNeeded: bytes.count &- start &- nameCount), code: code,
            kind: kind)
        fields.append(field)
    }

    @inline(__always)
    private func kind(from start: Int, nameCount: Int, _ code: HeaderNames.Code) -> HeaderField.Kind {
        let bytes = bytes.span
        let valueStart = start &+ nameCount
        return HeaderField.Kind(
            code, bytes.extracting(start..<valueStart), bytes.extracting(valueStart..<bytes.count))
    }

    /// Adds a field of another list.
    @inline(__always)
    mutating func append(_ field: Field, of list: HeaderList) {
        var field = field
        let place = field.name.lowerBound..<field.value.upperBound
        field.offset = UInt32(truncatingIfNeeded: bytes.count)
        bytes.append(contentsOf: list.bytes[place])
        fields.append(field)
    }

    /// Adds all of another list.
    ///
    /// - Returns: where they are among ``fields``.
    mutating func append(_ list: HeaderList) -> Range<Int> {
        let shift = UInt32(truncatingIfNeeded: bytes.count)
        let start = fields.count
        bytes.append(contentsOf: list.bytes)
        let more = list.fields.span
        for index in more.indices {
            var field = more[index]
            field.offset &+= shift
            fields.append(field)
        }
        return start..<fields.count
    }

    // MARK: Taking away

    /// Empties it, and keeps its memory where that is not more than `limit` bytes of either.
    mutating func removeAll(keeping limit: Int) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= limit)
        fields.removeAll(keepingCapacity: fields.capacity * MemoryLayout<Field>.stride <= limit)
    }

    /// Takes away the first fields, and their bytes.
    mutating func removeFirst(_ count: Int) {
        guard count > 0 else { return }
        let shift = count < fields.count ? fields[count].offset : UInt32(truncatingIfNeeded: bytes.count)
        bytes.removeSubrange(0..<Int(shift))
        fields.removeSubrange(0..<count)
        for index in fields.indices { fields[index].offset -= shift }
    }

    // MARK: Looking

    /// Fields of it as text.
    package subscript(range: Range<Int>) -> [HeaderField] {
        fields[range].map { field in
            HeaderField(
                name: String(decoding: bytes[field.name], as: UTF8.self),
                value: String(decoding: bytes[field.value], as: UTF8.self))
        }
    }
}
