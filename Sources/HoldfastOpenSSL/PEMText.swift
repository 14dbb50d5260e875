/// What can be said about PEM text before OpenSSL looks at it, so that an error can name what a file really is.
struct PEMText {
    /// The labels of its blocks, in order: `PRIVATE KEY`, `CERTIFICATE`, …
    let labels: [String]
    /// Where its first block begins. Byte-order marks and prose before it are allowed, as everywhere.
    let start: Int

    /// The most bytes that are looked at. A key or certificate has a few hundred.
    static let maximumByteCount = 1 << 20

    init(_ bytes: Span<UInt8>, expecting wanted: String) throws(OpenSSLError) {
        guard !bytes.isEmpty else { throw OpenSSLError("the file is empty; \(wanted) is needed") }
        guard bytes.count <= Self.maximumByteCount else {
            throw OpenSSLError("\(bytes.count) bytes are too many for \(wanted)")
        }
        var labels: [String] = []
        var start: Int?
        var position = 0
        while let begin = Self.find(Self.opening, in: bytes, from: position) {
            let labelStart = begin + Self.opening.count
            guard let labelEnd = Self.find(Self.dashes, in: bytes, from: labelStart) else { break }
            if start == nil { start = begin }
            labels.append(String(decoding: (labelStart..<labelEnd).map { bytes[$0] }, as: UTF8.self))
            position = labelEnd + Self.dashes.count
        }
        guard let start else {
            throw OpenSSLError("this is not PEM (no line \u{22}-----BEGIN …-----\u{22}); \(wanted) is needed")
        }
        self.labels = labels
        self.start = start
    }

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
