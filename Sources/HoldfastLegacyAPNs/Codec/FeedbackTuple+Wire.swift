package import Holdfast

extension FeedbackTuple {
    /// The most bytes of a token that a tuple can say.
    package static let greatestTokenOnWire = Int(UInt16.max)

    /// Appends the tuple as the feedback service writes it. Its time is rounded down to seconds and clamped to what 32 bits
    /// hold; its token must have at most ``greatestTokenOnWire`` bytes.
    package func append(to output: inout [UInt8]) {
        precondition(tokenBytes.count <= Self.greatestTokenOnWire)
        output.appendBigEndian(UInt32(clamping: since.seconds))
        output.appendBigEndian(UInt16(tokenBytes.count))
        output += tokenBytes
    }
}

/// Reads feedback tuples from bytes that come in whatever pieces.
///
/// Reading clears the service's list, so a tuple whose token is none, having no bytes or too many, is a tuple too: what
/// follows it must not be lost. Keeps at most what was appended last and one tuple that is not complete: 64 KB.
package struct FeedbackTupleReader: Sendable {
    private static let headerByteCount = 6

    private var bytes: [UInt8] = []
    private var start = 0

    package init() {}

    /// Whether the stream ends in the middle of a tuple, if it ends here.
    package var isInTuple: Bool { start < bytes.count }

    /// Takes what has arrived, behind what ``next()`` has not given yet.
    package mutating func append(_ input: Span<UInt8>) {
        bytes.removeFirst(start)
        start = 0
        for index in input.indices { bytes.append(input[index]) }
    }

    /// - Returns: the next tuple that is complete; nil when more bytes are needed.
    package mutating func next() -> FeedbackTuple? {
        guard bytes.count - start >= Self.headerByteCount else { return nil }
        let time = bytes.span.bigEndian32(at: start)
        let length = Int(bytes.span.bigEndian16(at: start + 4))
        let token = start + Self.headerByteCount
        guard bytes.count >= token + length else { return nil }
        start = token + length
        return FeedbackTuple(
            tokenBytes: Array(bytes[token..<token + length]), since: WallTime(seconds: Int64(time)))
    }
}
