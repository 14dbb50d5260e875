/// Decides what may be repeated of a text that another machine has sent.
///
/// A proxy or a web server may echo what it was sent: a device token, a payload or a provider token. So only text that
/// reads like a word is repeated, in logs, tables, metrics and records alike.
package enum QuotableText {
    private static let greatestDigitCount = 3
    /// The most hexadecimal digits in a row. A word such as `Defaced` has seven.
    private static let greatestHexRun = 7
    /// A longer text must be mostly of lower-case letters, as words are and Base64 is not.
    private static let shortLength = 12

    /// Whether a text is capital letters and underscores alone, as the constants are that some services give for reasons.
    ///
    /// - Parameter limit: the most bytes.
    static func isConstant(_ text: some StringProtocol, limit: Int) -> Bool {
        guard (1...limit).contains(text.utf8.count), text.utf8.first?.isUpper == true else { return false }
        var hexRun = 0
        for byte in text.utf8 {
            guard byte.isUpper || byte == UInt8(ascii: "_") else { return false }
            hexRun = Hex.value(of: byte) == nil ? 0 : hexRun + 1
            if hexRun > greatestHexRun { return false }
        }
        return true
    }

    /// Whether a text reads like a word, not like a token, digits or Base64.
    ///
    /// - Parameters:
    ///   - limit: the most bytes.
    ///   - punctuation: what it may hold beside letters and digits. It begins with a letter.
    package static func isWord(_ text: some StringProtocol, limit: Int, punctuation: String = "") -> Bool {
        let bytes = text.utf8
        guard (1...limit).contains(bytes.count), let first = bytes.first, first.isUpper || first.isLower else {
            return false
        }
        var (lower, upper, digits, hexRun) = (0, 0, 0, 0)
        for byte in bytes {
            if byte.isLower {
                lower += 1
            } else if byte.isUpper {
                upper += 1
            } else if byte.isDigit {
                digits += 1
            } else if !punctuation.utf8.contains(byte) {
                return false
            }
            hexRun = Hex.value(of: byte) == nil ? 0 : hexRun + 1
            if hexRun > greatestHexRun { return false }
        }
        guard digits <= greatestDigitCount else { return false }
        return bytes.count <= shortLength || lower >= 2 * (upper + digits)
    }
}

extension UInt8 {
    fileprivate var isLower: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    fileprivate var isUpper: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension Reason {
    /// The most bytes of a word that is not known here.
    private static let greatestWordLength = 48

    /// Takes the reason that a service gives: a word as it came, anything else as ``other``.
    ///
    /// A word is one that is known here, or one of the same form: at most 48 letters that begin with a capital, and at most
    /// three digits among them; or a constant of capital letters and underscores, such as `SENDER_ID_MISMATCH`.
    package init(said text: String) {
        self.init(rawValue: text)
        if !isWord { self = .other }
    }

    /// Whether the text is a reason of a service or of Holdfast, or has the form of one.
    var isWord: Bool {
        if ReasonLabels.known.contains(self) { return true }
        guard let first = rawValue.utf8.first, first.isUpper else { return false }
        return QuotableText.isWord(rawValue, limit: Self.greatestWordLength)
            || QuotableText.isConstant(rawValue, limit: Self.greatestWordLength)
    }

    /// The reason as a part of a sentence.
    package var words: String { self == .other ? "a reason that is none of the service's words" : rawValue }
}
