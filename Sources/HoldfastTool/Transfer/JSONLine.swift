internal import Foundation
internal import Holdfast

/// One object of NDJSON in the making: members in the order in which they are added, as bytes.
struct JSONLine {
    private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// With its newline.
    consuming func ended() -> [UInt8] {
        bytes.append(contentsOf: "}\n".utf8)
        return bytes
    }

    mutating func add(_ key: some CodingKey, _ text: String?) {
        guard let text else { return }
        begin(key.stringValue)
        append(quoted: text)
    }

    mutating func add(_ key: some CodingKey, _ number: (some BinaryInteger)?) {
        guard let number else { return }
        begin(key.stringValue)
        bytes.append(contentsOf: String(number).utf8)
    }

    mutating func add(_ key: some CodingKey, _ truth: Bool) {
        begin(key.stringValue)
        bytes.append(contentsOf: (truth ? "true" : "false").utf8)
    }

    /// Adds JSON as it is.
    mutating func add(_ key: some CodingKey, json: [UInt8]) {
        begin(key.stringValue)
        bytes.append(contentsOf: json)
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        append(quoted: name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Hex.digit(byte >> 4))
                bytes.append(Hex.digit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
