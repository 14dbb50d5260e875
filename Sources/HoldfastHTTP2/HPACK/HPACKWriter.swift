/// Primitives that write header fields in HPACK (RFC 7541), for callers that know the content of the peer's dynamic
/// table.
///
/// Strings are written plain, never Huffman-coded: that makes a field a memory copy here and at the peer. The caller
/// knows which table entries an index names; ``HPACKStaticIndex`` names the fixed ones. The first dynamic entry, always
/// the one added last, is ``firstDynamicIndex``.
package enum HPACKWriter {
    /// The index of the newest entry of the dynamic table.
    package static let firstDynamicIndex = 62

    /// The treatment of a literal field by its decoder.
    package enum Indexing: Sendable {
        /// The decoder adds it to its dynamic table (RFC 7541 §6.2.1).
        case incremental
        /// The field is not added (§6.2.2).
        case without
        /// The field is not added, and no intermediary may ever add it (§6.2.3): for secrets.
        case never

        /// The bits that announce it, and how many are left for the name's index.
        var pattern: (bits: UInt8, prefix: Int) {
            switch self {
            case .incremental: (0x40, 6)
            case .without: (0x00, 4)
            case .never: (0x10, 4)
            }
        }
    }

    /// Writes an integer with a prefix of 1 to 8 bits (§5.1), under `bits` that fill the rest of the first byte.
    package static func appendInteger(_ value: Int, prefix: Int, bits: UInt8, to block: inout [UInt8]) {
        precondition(value >= 0 && (1...8).contains(prefix), "a negative integer or an impossible prefix")
        let greatest = (1 << prefix) - 1
        if value < greatest {
            block.append(bits | UInt8(value))
            return
        }
        block.append(bits | UInt8(greatest))
        var rest = value - greatest
        while rest >= 128 {
            block.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        block.append(UInt8(rest))
    }

    /// Writes a plain string (§5.2).
    package static func appendString(_ bytes: some Collection<UInt8>, to block: inout [UInt8]) {
        appendInteger(bytes.count, prefix: 7, bits: 0, to: &block)
        block.append(contentsOf: bytes)
    }

    /// Writes a whole field, name and value, that a table holds (§6.1).
    package static func appendIndexed(_ index: Int, to block: inout [UInt8]) {
        precondition(index > 0, "index 0 names nothing")
        appendInteger(index, prefix: 7, bits: 0x80, to: &block)
    }

    /// Writes a field whose name a table holds.
    package static func appendLiteral(
        nameIndex: Int, value: some Collection<UInt8>, indexing: Indexing, to block: inout [UInt8]
    ) {
        precondition(nameIndex > 0, "index 0 names nothing")
        let (bits, prefix) = indexing.pattern
        appendInteger(nameIndex, prefix: prefix, bits: bits, to: &block)
        appendString(value, to: &block)
    }

    /// Writes a field whose name no table holds. Names are lower case in HTTP/2.
    package static func appendLiteral(
        name: some Collection<UInt8>, value: some Collection<UInt8>, indexing: Indexing, to block: inout [UInt8]
    ) {
        block.append(indexing.pattern.bits)
        appendString(name, to: &block)
        appendString(value, to: &block)
    }

    /// Writes a change of the dynamic table's size (§6.3). Only at the beginning of a block, at most two of them.
    package static func appendSizeUpdate(_ size: Int, to block: inout [UInt8]) {
        appendInteger(size, prefix: 5, bits: 0x20, to: &block)
    }

    /// The size of an entry in the dynamic table (§4.1).
    package static func entrySize(nameCount: Int, valueCount: Int) -> Int { nameCount + valueCount + 32 }

    /// Writes `:status`, in one byte where the static table has it.
    package static func appendStatus(_ status: Int, to block: inout [UInt8]) {
        precondition((100...999).contains(status), "not a status: \(status)")
        switch status {
        case 200: appendIndexed(HPACKStaticIndex.status200, to: &block)
        case 204: appendIndexed(9, to: &block)
        case 206: appendIndexed(10, to: &block)
        case 304: appendIndexed(11, to: &block)
        case 400: appendIndexed(12, to: &block)
        case 404: appendIndexed(13, to: &block)
        case 500: appendIndexed(14, to: &block)
        default:
            let digits = [status / 100, status / 10 % 10, status % 10].map { UInt8(ascii: "0") + UInt8($0) }
            appendLiteral(nameIndex: HPACKStaticIndex.status200, value: digits, indexing: .without, to: &block)
        }
    }
}

/// Entries of the static table (RFC 7541 appendix A) that requests and responses here use.
package enum HPACKStaticIndex {
    package static let authority = 1
    package static let methodGet = 2
    package static let methodPost = 3
    /// Name `:path`, value `/`.
    package static let path = 4
    package static let schemeHTTP = 6
    package static let schemeHTTPS = 7
    package static let status200 = 8
    package static let authorization = 23
    package static let contentLength = 28
    package static let contentType = 31
    package static let userAgent = 58
    package static let via = 60
}
