/// One request, or one answer: a line that says what it is, and a line for each item it is about. A line is a JSON object;
/// an empty one ends the message.
struct ControlMessage: Hashable, Sendable {
    /// Without their newlines; never empty.
    var lines: [[UInt8]]

    var head: [UInt8] { lines[0] }
    var items: ArraySlice<[UInt8]> { lines.dropFirst() }
}

/// What a message may hold: at both ends, so that neither can make the other's memory grow.
struct MessageLimits: Hashable, Sendable {
    /// The largest notification takes less than this, in whatever form.
    var lineByteCount = 512 << 10
    /// The head and its items. Requests have far fewer (``OperatorDeskLimits``); the answer to `status` has one for each
    /// lane and route.
    var lineCount = 10_001
    var byteCount = 8 << 20
}

/// Puts messages together from bytes as they come.
struct MessageReader {
    private let limits: MessageLimits
    private var lines: [[UInt8]] = []
    private var line: [UInt8] = []
    /// Of what it holds.
    private(set) var byteCount = 0

    init(limits: MessageLimits) { self.limits = limits }

    /// Whether a message has begun.
    var isAmidMessage: Bool { byteCount > 0 }

    /// - Returns: the messages that these bytes complete.
    /// - Throws: ``ControlError`` with code `tooLarge`; nothing more is to be read then.
    mutating func take(_ bytes: some Collection<UInt8>) throws(ControlError) -> [ControlMessage] {
        var messages: [ControlMessage] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try append(rest[..<end])
            if let message = endLine() { messages.append(message) }
            rest = rest[rest.index(after: end)...]
        }
        try append(rest)
        return messages
    }

    private mutating func append(_ bytes: some Collection<UInt8>) throws(ControlError) {
        guard !bytes.isEmpty else { return }
        guard lines.count < limits.lineCount else {
            throw ControlError(.tooLarge, "a message has at most \(limits.lineCount) lines")
        }
        guard line.count + bytes.count <= limits.lineByteCount else {
            throw ControlError(.tooLarge, "a line has at most \(limits.lineByteCount) bytes")
        }
        byteCount += bytes.count
        guard byteCount <= limits.byteCount else {
            throw ControlError(.tooLarge, "a message has at most \(limits.byteCount) bytes")
        }
        line += bytes
    }

    private mutating func endLine() -> ControlMessage? {
        guard line.isEmpty else {
            lines.append(line)
            line = []
            return nil
        }
        // Empty lines between messages are nothing.
        guard !lines.isEmpty else { return nil }
        defer { (lines, byteCount) = ([], 0) }
        return ControlMessage(lines: lines)
    }
}

extension ControlMessage {
    /// - Throws: ``ControlError`` with code `tooLarge` for what the other side would not take.
    func check(_ limits: MessageLimits) throws(ControlError) {
        let byteCount = lines.reduce(0) { $0 + $1.count }
        let longest = lines.reduce(0) { max($0, $1.count) }
        guard lines.count <= limits.lineCount, byteCount <= limits.byteCount, longest <= limits.lineByteCount else {
            throw ControlError(
                .tooLarge,
                """
                \(lines.count) lines with \(byteCount) bytes, the longest of \(longest), are too much for one message: at \
                most \(limits.lineCount), \(limits.byteCount) and \(limits.lineByteCount)
                """)
        }
    }

    /// With the empty line at the end.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(1) { $0 + $1.count + 1 })
        for line in lines {
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
