internal import HoldfastService

/// How a part of a line looks.
enum TopStyle: Hashable, Sendable { case plain, bold, faint, red, yellow, green, selected }

/// One line of a screen, in parts that look alike.
struct TopLine: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        var text: String
        var style: TopStyle
    }

    var parts: [Part] = []

    init(_ text: String = "", _ style: TopStyle = .plain) {
        if !text.isEmpty { parts = [Part(text: text, style: style)] }
    }

    /// The text alone.
    var text: String { parts.map(\.text).joined() }
    /// Columns that it takes.
    var width: Int { parts.reduce(0) { $0 + TopText.width($1.text) } }

    mutating func add(_ text: String, _ style: TopStyle = .plain) {
        if !text.isEmpty { parts.append(Part(text: text, style: style)) }
    }

    /// The same line in no more than so many columns; what is left out is told by an ellipsis.
    func cut(to columns: Int, _ signs: TopSigns) -> TopLine {
        guard width > columns else { return self }
        var line = TopLine()
        var left = columns
        for part in parts where left > 0 {
            let width = TopText.width(part.text)
            let isLast = width >= left
            line.add(isLast ? TopText.cut(part.text, to: left, signs, isMore: true) : part.text, part.style)
            left -= isLast ? left : width
        }
        return line
    }
}

/// The signs that a terminal can show.
struct TopSigns: Hashable, Sendable {
    let ellipsis: String
    /// From the lowest to the highest.
    let bars: [Character]
    let pointer: String
    let rule: Character

    static let unicode = TopSigns(ellipsis: "…", bars: Array("▁▂▃▄▅▆▇█"), pointer: "▶", rule: "─")
    static let ascii = TopSigns(ellipsis: "~", bars: Array("_.-:=+*#"), pointer: ">", rule: "-")

    /// By the locale: the first of these variables that is set says it.
    init(environment: [String: String]) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let codes = locale.uppercased().replacing("-", with: "")
        self = codes.contains("UTF8") ? .unicode : .ascii
    }

    private init(ellipsis: String, bars: [Character], pointer: String, rule: Character) {
        (self.ellipsis, self.bars, self.pointer, self.rule) = (ellipsis, bars, pointer, rule)
    }
}

/// Texts in columns of a terminal.
enum TopText {
    /// Columns that a text takes: two for wide characters of East Asia and pictures, none for marks.
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.value < 0x300 { return 1 }
        if character.unicodeScalars.count > 1, scalar.properties.isEmoji { return 2 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD:
            return 2
        default:
            let category = scalar.properties.generalCategory
            return category == .nonspacingMark || category == .enclosingMark || category == .format ? 0 : 1
        }
    }

    /// A text in no more than so many columns.
    ///
    /// - Parameter isMore: something follows that is left out, whether the text itself fits or not.
    static func cut(_ text: String, to columns: Int, _ signs: TopSigns, isMore: Bool = false) -> String {
        let all = width(text)
        guard all > columns || (isMore && all >= columns) else { return text }
        guard columns > 0 else { return "" }
        if all == columns, !isMore { return text }
        var result = ""
        var left = columns - 1
        for character in text {
            let width = width(character)
            guard width <= left else { break }
            result.append(character)
            left -= width
        }
        return result + signs.ellipsis
    }

    /// Texts in no more than so many columns each, that differ where they can: what is left out of a long one is in its middle,
    /// and where it is shared by all.
    static func distinct(_ texts: [String], columns: Int, _ signs: TopSigns) -> [String] {
        guard columns > 1, texts.contains(where: { width($0) > columns }) else {
            return texts.map { cut($0, to: columns, signs) }
        }
        let wanted = Set(texts).count
        var (best, greatest) = (texts, 0)
        // From the middle outwards.
        let room = columns - 1
        for head in (0...room).sorted(by: { (abs($0 * 2 - room), $0) < (abs($1 * 2 - room), $1) }) {
            let shown = texts.map { cutMiddle($0, to: columns, head: head, signs) }
            let count = Set(shown).count
            if count > greatest { (best, greatest) = (shown, count) }
            if count == wanted { break }
        }
        return best
    }

    /// - Parameter head: columns of its beginning that are shown.
    private static func cutMiddle(_ text: String, to columns: Int, head: Int, _ signs: TopSigns) -> String {
        guard width(text) > columns else { return text }
        func part(_ characters: some Sequence<Character>, _ columns: Int) -> [Character] {
            var left = columns
            return Array(
                characters.prefix { character in
                    left -= width(character)
                    return left >= 0
                })
        }
        let tail = part(text.reversed(), columns - 1 - head)
        return String(part(text, head)) + signs.ellipsis + String(tail.reversed())
    }

    /// A text in exactly so many columns.
    static func cell(_ text: String, _ columns: Int, right: Bool = false, _ signs: TopSigns) -> String {
        let shown = cut(text, to: columns, signs)
        let pad = String(repeating: " ", count: max(columns - width(shown), 0))
        return right ? pad + shown : shown + pad
    }

    /// Without what a terminal would take for an order, and in ASCII where the terminal shows nothing else.
    static func safe(_ text: String, _ signs: TopSigns) -> String {
        guard signs == .ascii else { return text.withoutControls }
        return String(
            String.UnicodeScalarView(
                text.withoutControls.unicodeScalars.map { $0.isASCII ? $0 : $0 == "…" ? "~" : "?" }))
    }

    /// Values as bars, the newest at the right; blank where there is none yet.
    static func sparkline(_ values: [Double], columns: Int, _ signs: TopSigns) -> String {
        let shown = values.suffix(columns)
        let highest = shown.max() ?? 0
        let bars = shown.map { value -> Character in
            guard value > 0, highest > 0 else { return " " }
            return signs.bars[min(Int(value / highest * Double(signs.bars.count)), signs.bars.count - 1)]
        }
        return String(repeating: " ", count: max(columns - shown.count, 0)) + String(bars)
    }
}
