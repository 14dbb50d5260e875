import Foundation
import Holdfast
import HoldfastPayload

/// JSON as Foundation reads it.
enum JSONTree: Equatable, Decodable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case object([String: JSONTree])
    case array([JSONTree])
    /// UTF-8, since two texts of different bytes may be the same to Swift.
    case text([UInt8])
    case integer(Int)
    case number(Double)
    case flag(Bool)

    init(_ text: String) { self = .text(Array(text.utf8)) }
    init(_ texts: [String]) { self = .array(texts.map { JSONTree($0) }) }
    init(stringLiteral text: String) { self.init(text) }
    init(integerLiteral number: Int) { self = .integer(number) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let object = try? container.decode([String: JSONTree].self) {
            self = .object(object)
        } else if let array = try? container.decode([JSONTree].self) {
            self = .array(array)
        } else if let text = try? container.decode(String.self) {
            self.init(text)
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int.self) {
            self = .integer(number)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }

    /// The same, where a whole number is as good as the other kind of number.
    static func == (one: JSONTree, other: JSONTree) -> Bool {
        switch (one, other) {
        case (.object(let one), .object(let other)): one == other
        case (.array(let one), .array(let other)): one == other
        case (.text(let one), .text(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.flag(let one), .flag(let other)): one == other
        case (.integer(let one), .number(let other)), (.number(let other), .integer(let one)): Double(one) == other
        default: false
        }
    }
}

/// A payload of random parts, and what it is to be when Foundation reads it.
struct RandomPayload {
    private(set) var payload = APNsPayload()
    private(set) var expected = JSONTree.object([:])
    private var random: Xoshiro256
    private var aps: [String: JSONTree] = [:]
    private var others: [String: JSONTree] = [:]

    init(seed: Int) throws {
        random = Xoshiro256(seed: UInt64(seed))
        maybe { $0.addAlert() }
        maybe { $0.addNumbers() }
        maybe { $0.addTexts() }
        maybe { $0.addFlags() }
        if Bool.random(using: &random) { try addLiveActivity() }
        maybe { $0.addSound() }
        for _ in 0..<Int.random(in: 0...4, using: &random) { try addCustom() }
        others["aps"] = .object(aps)
        expected = .object(others)
    }

    private mutating func maybe(_ change: (inout RandomPayload) -> Void) {
        if Bool.random(using: &random) { change(&self) }
    }

    /// What must be escaped, what has two bytes or more, what people see as one although it is several.
    private static let characters: [Character] = [
        "a", "Z", " ", "\"", "\\", "/", "\n", "\r\n", "\t", "\u{0}", "\u{1f}", "\u{7f}", "é", "e\u{301}\u{323}", "ż",
        "\u{2028}",
        "漢", "\u{feff}", "😀", "👩‍👩‍👧‍👦", "🇵🇱", "🏳️‍🌈", "👍🏽", "\u{10ffff}",
    ]

    static func text(_ count: Int, using random: inout Xoshiro256) -> String {
        String((0..<count).map { _ in characters[Int.random(in: 0..<characters.count, using: &random)] })
    }

    private mutating func text() -> String { Self.text(Int.random(in: 0...30, using: &random), using: &random) }

    private mutating func addAlert() {
        let (title, body) = (text(), text())
        payload.alert = .init(title: title, body: body)
        var alert = ["title": JSONTree(title), "body": JSONTree(body)]
        if Bool.random(using: &random) {
            let (key, arguments) = (text(), (0..<3).map { _ in text() })
            payload.alert?.localizedSubtitle = .init(key, arguments: arguments)
            alert["subtitle-loc-key"] = JSONTree(key)
            alert["subtitle-loc-args"] = JSONTree(arguments)
        }
        aps["alert"] = .object(alert)
    }

    private mutating func addNumbers() {
        let badge = Int.random(in: 0 ... .max, using: &random)
        // Any bits but those of no number.
        let score = Double(bitPattern: UInt64.random(in: 0..<Double.infinity.bitPattern, using: &random))
        payload.badge = badge
        payload.relevanceScore = score
        aps["badge"] = .integer(badge)
        aps["relevance-score"] = .number(score)
    }

    private mutating func addTexts() {
        let texts = (0..<4).map { _ in text() }
        (payload.category, payload.threadID) = (texts[0], texts[1])
        (payload.filterCriteria, payload.urlArguments) = (texts[2], texts)
        aps["category"] = JSONTree(texts[0])
        aps["thread-id"] = JSONTree(texts[1])
        aps["filter-criteria"] = JSONTree(texts[2])
        aps["url-args"] = JSONTree(texts)
    }

    private mutating func addFlags() {
        payload.isContentAvailable = true
        payload.isMutableContent = true
        payload.interruptionLevel = .timeSensitive
        aps["content-available"] = 1
        aps["mutable-content"] = 1
        aps["interruption-level"] = "time-sensitive"
    }

    private mutating func addSound() {
        let (name, volume) = (text(), Double.random(in: 0...1, using: &random))
        payload.sound = .critical(name, volume: volume)
        aps["sound"] = .object(["critical": 1, "name": JSONTree(name), "volume": .number(volume)])
    }

    private mutating func addLiveActivity() throws {
        let seconds = Int.random(in: 0...4_000_000_000, using: &random)
        let state = ["level": Int.random(in: .min ... .max, using: &random)]
        payload.event = .update
        payload.timestamp = Date(timeIntervalSince1970: Double(seconds))
        payload.contentState = try .encoding(state)
        aps["event"] = "update"
        aps["timestamp"] = .integer(seconds)
        aps["content-state"] = .object(state.mapValues { .integer($0) })
    }

    private mutating func addCustom() throws {
        // Never one of the keys that have properties.
        let key = "x" + text()
        let value = [text(), text()]
        payload[key] = try .encoding(value)
        others[key] = JSONTree(value)
    }
}
