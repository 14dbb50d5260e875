internal import Foundation

/// Text to be pasted into a shell.
package enum ShellText {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@+,=%")

    /// As one word of a shell; in quotes only where it needs them.
    package static func word(_ text: String) -> String {
        !text.isEmpty && text.allSatisfy(plain.contains) ? text : quoted(text)
    }

    package static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
