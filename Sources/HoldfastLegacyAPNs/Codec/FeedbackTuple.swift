/// A device that has not had the app since `time`, as the feedback service says it.
package struct FeedbackTuple: Hashable, Sendable {
    /// Unix seconds.
    package let time: UInt32
    /// 1 to ``FeedbackTupleReader/greatestToken`` bytes; 32 today.
    package let token: [UInt8]

    package init(time: UInt32, token: [UInt8]) {
        self.time = time
        self.token = token
    }

    package func append(to output: inout [UInt8]) {
        output.appendBigEndian(time)
        output.appendBigEndian(UInt16(token.count))
        output += token
    }
}

/// Reads feedback tuples from bytes that come in whatever pieces.
///
/// Reading clears the service's list, so each call gives what is complete, also when what follows is not a tuple.
package struct FeedbackTupleReader: Sendable {
    /// What follows is no tuple; nothing more can be read.
    package struct BadTokenLength: Error, Hashable, Sendable, CustomStringConvertible {
        package let length: Int
        package var description: String { "a feedback tuple with a token of \(length) bytes" }
    }

    /// Bytes. The most that Apple takes in a request, too.
    package static let greatestToken = 100
    private static let headerByteCount = 6

    private var bytes: [UInt8] = []
    private var start = 0

    package init() {}

    /// Whether the stream ends in the middle of a tuple, if it ends here.
    package var isInTuple: Bool { start < bytes.count }

    /// Takes what has arrived, a few kilobytes at a time: it keeps all that ``next()`` has not given yet.
    package mutating func append(_ input: Span<UInt8>) {
        bytes.removeFirst(start)
        start = 0
        for index in input.indices { bytes.append(input[index]) }
    }

    /// - Returns: the next tuple that is complete; nil when more bytes are needed.
    package mutating func next() throws(BadTokenLength) -> FeedbackTuple? {
        guard bytes.count - start >= Self.headerByteCount else { return nil }
        let time = bytes.span.bigEndian32(at: start)
        let length = Int(bytes.span.bigEndian16(at: start + 4))
        guard (1...Self.greatestToken).contains(length) else { throw BadTokenLength(length: length) }
        let token = start + Self.headerByteCount
        guard bytes.count >= token + length else { return nil }
        start = token + length
        return FeedbackTuple(time: time, token: Array(bytes[token..<token + length]))
    }
}
