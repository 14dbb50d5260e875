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
                guard let character = character() else { break }
                keys.append(.text(character))
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

    /// One character of UTF-8; nil while its rest is to come. A byte that begins none is dropped.
    private mutating func character() -> Character? {
        while let first = unread.first, first >= 0x20, first != 0x7F {
            let count = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0
            guard count > 0 else {
                unread.removeFirst()
                continue
            }
            guard unread.count >= count else { return nil }
            let text = String(decoding: unread.prefix(count), as: UTF8.self)
            unread.removeFirst(count)
            if text.count == 1, let character = text.first, character != "\u{FFFD}" { return character }
        }
        return nil
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
