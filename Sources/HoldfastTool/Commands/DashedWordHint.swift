internal import ArgumentParser
internal import HoldfastService

/// A word such as `-sale` that was meant as a value. Its letters are read as flags, and an `h` among them as a wish for help.
struct DashedWordHint: Equatable {
    let word: String

    /// The flags of one letter.
    private static let letters = Set("hovy")

    /// - Parameter arguments: that could not be read, or with which help was asked for.
    /// - Returns: nil if no word begins with one `-` and is none of the flags.
    init?(_ arguments: [String]) {
        let words = arguments.prefix { $0 != "--" }
        guard !words.contains("--help"), !words.contains("-h"), let word = words.first(where: Self.isDashed) else {
            return nil
        }
        self.word = word
    }

    private static func isDashed(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.hasPrefix("--") && word.count > 2 && !word.dropFirst().allSatisfy(letters.contains)
    }

    var error: ValidationError {
        let shown = word.printable(maximumLength: 64)
        return ValidationError(
            "Unknown option `\(shown)`. A value that begins with `-` goes behind `--`: `holdfast tags pause -- -sale`; that "
                + "of an option, behind its `=`: `--reason=\(shown)`.")
    }
}
