internal import Foundation

/// Text to be pasted into a shell from a terminal, a log or JSON.
package enum ShellText {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@+,=%")

    /// As one word of a shell; in quotes only where it needs them.
    package static func word(_ text: String) -> String {
        !text.isEmpty && text.allSatisfy(plain.contains) ? text : quoted(text)
    }

    /// As one word in quotes. Characters that are not shown are spelled out, as in `$'a\033b'` (bash, zsh, ksh; POSIX since 2024):
    /// as they are, a terminal would obey them, or a reader would not see them.
    package static func quoted(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnshown) else {
            return "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
        }
        var word = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "'": word += "\\\(scalar)"
            // Bytes of UTF-8 in three octal digits: all shells read these alike, whatever follows.
            case _ where isUnshown(scalar):
                for byte in String(scalar).utf8 {
                    let digits = String(byte, radix: 8)
                    word += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
                }
            default: word.unicodeScalars.append(scalar)
            }
        }
        return "$'\(word)'"
    }

    /// Whether a terminal would do something else than show it.
    private static func isUnshown(_ scalar: Unicode.Scalar) -> Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }
}
