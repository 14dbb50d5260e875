/// The structure of PEM text before OpenSSL parses it, so that an error can name the real content of a file.
struct PEMText {
    /// One `-----BEGIN …-----`.
    struct Block {
        /// `PRIVATE KEY`, `CERTIFICATE`, …
        let label: String
        /// The start of the block. Byte-order marks and prose before it are allowed, as everywhere.
        let start: Int
    }

    /// The blocks in order; at least one.
    let blocks: [Block]

    var labels: [String] { blocks.map(\.label) }
    /// The start of its first block.
    var start: Int { blocks[0].start }

    /// The most bytes that are looked at. A key or certificate has a few hundred.
    static let maximumByteCount = 1 << 20

    init(_ bytes: Span<UInt8>, expecting wanted: String) throws(OpenSSLError) {
        guard !bytes.isEmpty else { throw OpenSSLError("the file is empty; \(wanted) is needed") }
        guard bytes.count <= Self.maximumByteCount else {
            throw OpenSSLError("\(bytes.count) bytes are too many for \(wanted)")
        }
        var blocks: [Block] = []
        var position = 0
        while let begin = Self.find(Self.opening, in: bytes, from: position) {
            let labelStart = begin + Self.opening.count
            guard let labelEnd = Self.find(Self.dashes, in: bytes, from: labelStart) else { break }
            let label = String(decoding: (labelStart..<labelEnd).map { bytes[$0] }, as: UTF8.self)
            blocks.append(Block(label: label, start: begin))
            position = labelEnd + Self.dashes.count
        }
        guard !blocks.isEmpty else {
            throw OpenSSLError("this is not PEM (no line \u{22}-----BEGIN …-----\u{22}); \(wanted) is needed")
        }
        self.blocks = blocks
    }

    /// The content in words, for an error about a wrong file.
    var contents: String { labels.map { $0.lowercased() }.joined(separator: ", ") }

    private static let opening = Array("-----BEGIN ".utf8)
    private static let dashes = Array("-----".utf8)

    private static func find(_ pattern: [UInt8], in bytes: Span<UInt8>, from start: Int) -> Int? {
        guard bytes.count - start >= pattern.count else { return nil }
        candidates: for begin in start...(bytes.count - pattern.count) {
            for offset in pattern.indices where bytes[begin + offset] != pattern[offset] { continue candidates }
            return begin
        }
        return nil
    }
}
