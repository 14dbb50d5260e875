/// Writes one JSON object; its members keep the order of the calls.
struct JSONObjectWriter {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    var isEmpty: Bool { bytes.count == 1 }

    func finish() -> [UInt8] { bytes + [UInt8(ascii: "}")] }

    private mutating func key(_ name: String) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    // nil writes no member.

    mutating func write(_ name: String, _ value: JSONFragment?) {
        guard let value else { return }
        key(name)
        bytes += value.bytes
    }

    mutating func write(_ name: String, _ text: String?) {
        guard let text else { return }
        key(name)
        JSONText.append(text, to: &bytes)
    }

    mutating func write(_ name: String, _ number: Int?) {
        guard let number else { return }
        key(name)
        bytes += "\(number)".utf8
    }

    mutating func write(_ name: String, _ texts: [String]?) {
        guard let texts else { return }
        key(name)
        bytes.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes a finite number in its shortest form.
    ///
    /// - Throws: ``APNsPayloadError`` for NaN and infinity.
    mutating func write(_ name: String, _ number: Double?) throws(APNsPayloadError) {
        guard let number else { return }
        guard number.isFinite else {
            throw APNsPayloadError(.notJSON, "\(name) is \(number), which JSON cannot hold")
        }
        key(name)
        bytes += "\(number)".utf8
    }
}

/// Text as JSON: escapes only what must be escaped, and keeps everything else in UTF-8.
enum JSONText {
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { append(byte, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The bytes that a text takes between its quotes.
    static func byteCount(_ text: some StringProtocol) -> Int {
        text.utf8.reduce(0) { $0 + byteCount($1) }
    }

    private static func byteCount(_ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0a, 0x0c, 0x0d: 2
        case ..<0x20: 6
        default: 1
        }
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x08: bytes += "\\b".utf8
        case 0x09: bytes += "\\t".utf8
        case 0x0a: bytes += "\\n".utf8
        case 0x0c: bytes += "\\f".utf8
        case 0x0d: bytes += "\\r".utf8
        case ..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
        default: bytes.append(byte)
        }
    }
}
