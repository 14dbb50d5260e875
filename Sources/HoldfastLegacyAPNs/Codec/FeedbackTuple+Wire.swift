package import Holdfast

extension FeedbackTuple {
    /// The most bytes of a token that fit into a tuple.
    package static let greatestTokenOnWire = Int(UInt16.max)

    /// Appends the tuple as the feedback service writes it. Its time is rounded down to seconds and clamped to 32 bits.
    ///
    /// - Precondition: its token has at most ``greatestTokenOnWire`` bytes.
    package func append(to output: inout [UInt8]) {
        precondition(tokenBytes.count <= Self.greatestTokenOnWire)
        output.appendBigEndian(UInt32(clamping: since.seconds))
        output.appendBigEndian(UInt16(tokenBytes.count))
        output += tokenBytes
    }
}

/// Reads feedback tuples from bytes split anywhere.
///
/// Reading clears the service's list, so a tuple with an invalid token (empty, or too long) is returned too: the tuples
/// behind it must not be lost. Keeps at most the bytes appended last and one incomplete tuple: 64 KB.
package struct FeedbackTupleReader: Sendable {
    private static let headerByteCount = 6

    private var bytes: [UInt8] = []
    private var start = 0

    package init() {}

    /// Whether the bytes so far end inside a tuple.
    package var isInTuple: Bool { start < bytes.count }

    /// Takes bytes, behind those that ``next()`` has not returned yet.
    package mutating func append(_ input: Span<UInt8>) {
        bytes.removeFirst(start)
        start = 0
        for index in input.indices { bytes.append(input[index]) }
    }

    /// - Returns: the next complete tuple; nil when more bytes are needed.
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
