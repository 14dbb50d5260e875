/// The effect of a statement on the transaction, by its first words.
///
/// The extended protocol takes one statement at a time, so the first words are enough.
enum StatementEffect: Hashable, Sendable {
    case begins
    case commits
    case rollsBack
    /// May commit in its middle when no transaction is open: a procedure or a block of code.
    case mayCommitItself
    case none

    init(_ sql: String) {
        let words = Self.firstWords(sql)
        switch words.first {
        case "BEGIN", "START": self = .begins
        case "COMMIT", "END": self = .commits
        case "PREPARE": self = words.dropFirst().first == "TRANSACTION" ? .commits : .none
        // To a savepoint, the transaction goes on.
        case "ROLLBACK", "ABORT": self = words.dropFirst().contains("TO") ? .none : .rollsBack
        case "CALL", "DO": self = .mayCommitItself
        default: self = .none
        }
    }

    /// The first three words in capitals, behind spaces and comments.
    private static func firstWords(_ sql: String) -> [String] {
        var rest = Substring(sql)[...]
        var words: [String] = []
        while words.count < 3, let first = rest.unicodeScalars.first {
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = withoutComment(rest)
            } else if isLetter(first) {
                let word = rest.unicodeScalars.prefix(while: isLetter)
                words.append(String(String.UnicodeScalarView(word)).uppercased())
                rest = rest[word.endIndex...]
            } else if first.properties.isWhitespace || first == ";" {
                rest = Substring(rest.unicodeScalars.dropFirst())
            } else {
                break
            }
        }
        return words
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isAlphabetic || scalar == "_" }

    /// PostgreSQL's comments nest.
    private static func withoutComment(_ text: Substring) -> Substring {
        var rest = text
        var depth = 0
        while !rest.isEmpty {
            if rest.hasPrefix("/*") {
                depth += 1
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("*/") {
                depth -= 1
                rest = rest.dropFirst(2)
                if depth == 0 { return rest }
            } else {
                rest = rest.dropFirst()
            }
        }
        return rest
    }
}
