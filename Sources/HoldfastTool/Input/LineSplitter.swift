internal import Holdfast

/// Splits the bytes of a file, as they are read, into lines; holds one line and one read at most, and a little of what
/// came before.
///
///     while let line = splitter.next() { … splitter.bytes[line.range] … }
///     splitter.append(read)
struct LineSplitter {
    /// Bytes. A longer line is malformed: it is skipped to its end, and never held.
    static let maximumLineLength = 256 * 1024

    /// Bytes before the current line that are kept, for the fingerprint of the place.
    static let historyLength = 4096

    /// One line, without its newline.
    struct Line {
        /// From 1.
        let number: Int
        /// Where it lies in ``LineSplitter/bytes`` until the next ``LineSplitter/append(_:)``; empty when it is too long.
        let range: Range<Int>
        let isTooLong: Bool
    }

    private(set) var bytes: [UInt8]
    /// Lines taken so far.
    private(set) var lineCount: Int
    private let limit: Int
    /// Where the next line begins in `bytes`, and how far it was searched for its newline.
    private var start: Int
    private var searched: Int
    /// The offset in the file of the first of `bytes`.
    private var base: UInt64
    private var isSkipping = false
    private var isFinished = false

    /// - Parameters:
    ///   - offset: where in the file the first line begins.
    ///   - lineCount: how many lines lie before it.
    ///   - history: the bytes before `offset`, at least the last ``historyLength`` of them.
    init(offset: UInt64 = 0, lineCount: Int = 0, history: [UInt8] = [], maximumLineLength: Int = Self.maximumLineLength)
    {
        precondition(history.count <= offset)
        bytes = history
        self.lineCount = lineCount
        limit = maximumLineLength
        start = history.count
        searched = history.count
        base = offset - UInt64(history.count)
    }

    /// The offset in the file behind the lines taken so far.
    var offset: UInt64 { base + UInt64(start) }

    /// Identifies the content just before ``offset``.
    var fingerprint: UInt64 { Fingerprint.of(bytes[max(0, start - Self.historyLength)..<start]) }

    /// Takes what was read next from the file.
    mutating func append(_ chunk: some Collection<UInt8>) {
        let consumed = max(0, start - Self.historyLength)
        if consumed > 0 {
            bytes.removeFirst(consumed)
            start -= consumed
            searched -= consumed
            base += UInt64(consumed)
        }
        bytes.append(contentsOf: chunk)
    }

    /// Says that the file has ended: what is left is the last line.
    mutating func finish() { isFinished = true }

    /// The next line; nil when there is no whole one yet.
    mutating func next() -> Line? {
        guard let newline = findNewline() else {
            if searched - start > limit {
                // Let go of what is known to be no line; its end is searched for in what comes.
                isSkipping = true
                start = searched
            }
            guard isFinished, start < bytes.count || isSkipping else { return nil }
            return take(upTo: bytes.count, next: bytes.count)
        }
        return take(upTo: newline, next: newline + 1)
    }

    /// Takes back the line that ``next()`` has just given, which was not too long: it will come again.
    mutating func unread(_ line: Line) {
        start = line.range.lowerBound
        searched = start
        lineCount -= 1
    }

    private mutating func take(upTo end: Int, next: Int) -> Line {
        let isTooLong = isSkipping || end - start > limit
        let line = Line(number: lineCount + 1, range: isTooLong ? end..<end : start..<end, isTooLong: isTooLong)
        lineCount += 1
        start = next
        searched = next
        isSkipping = false
        return line
    }

    private mutating func findNewline() -> Int? {
        let end = Self.firstNewline(bytes.span, from: searched)
        searched = end
        return end < bytes.count ? end : nil
    }

    /// The place of the first newline, or the end.
    private static func firstNewline(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index &+= 1 }
        return index
    }
}
