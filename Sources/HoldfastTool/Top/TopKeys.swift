/// A key of a terminal.
enum TopKey: Hashable, Sendable {
    case text(Character)
    case up, down, pageUp, pageDown, home, end
    case enter, escape, backspace
    /// With the control key, as a small letter.
    case control(Character)
}

/// Makes keys of the bytes that a terminal sends. A pure machine.
///
/// The bytes of one key come in one read; so an ESC at the end of a read is the key Escape.
struct TopKeyReader {
    private var unread: [UInt8] = []

    /// The keys of one read.
    mutating func keys(in bytes: some Sequence<UInt8>) -> [TopKey] {
        unread += bytes
        var keys: [TopKey] = []
        while let first = unread.first {
            if first == 0x1B {
                keys += sequence()
            } else if first < 0x20 || first == 0x7F {
                unread.removeFirst()
                if let key = Self.control(first) { keys.append(key) }
            } else {
                guard let text = character(first) else { break }
                if let character = text.first { keys.append(.text(character)) }
            }
        }
        return keys
    }

    private static func control(_ byte: UInt8) -> TopKey? {
        switch byte {
        case 0x0D, 0x0A: .enter
        case 0x7F, 0x08: .backspace
        case 1...26: .control(Character(UnicodeScalar(byte + 0x60)))
        default: nil
        }
    }

    /// One character of UTF-8, empty for a byte that begins none; nil while its rest is to come.
    private mutating func character(_ first: UInt8) -> String? {
        let count =
            switch first {
            case ..<0x80: 1
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        let rest = unread.dropFirst().prefix(max(count - 1, 0))
        guard count > 0, rest.allSatisfy({ $0 & 0xC0 == 0x80 }) else {
            unread.removeFirst()
            return ""
        }
        guard unread.count >= count else { return nil }
        let text = String(decoding: unread.prefix(count), as: UTF8.self)
        unread.removeFirst(count)
        return text.contains("\u{FFFD}") ? "" : text
    }

    /// ESC, and what belongs to it: `ESC [ A`, `ESC O A`, `ESC [ 5 ~`. Unknown keys are passed over.
    private mutating func sequence() -> [TopKey] {
        guard unread.count > 1, unread[1] == UInt8(ascii: "[") || unread[1] == UInt8(ascii: "O") else {
            unread.removeFirst()
            return [.escape]
        }
        var end = 2
        while end < unread.count, !(0x40...0x7E).contains(unread[end]) { end += 1 }
        let word = String(decoding: unread[min(2, unread.count)..<min(end + 1, unread.count)], as: UTF8.self)
        unread.removeFirst(min(end + 1, unread.count))
        return Self.names[word].map { [$0] } ?? []
    }

    private static let names: [String: TopKey] = [
        "A": .up, "B": .down, "H": .home, "F": .end, "5~": .pageUp, "6~": .pageDown, "1~": .home, "4~": .end,
        "7~": .home, "8~": .end,
    ]
}
