internal import Foundation

/// Writes lines to a file that may take only a part of one, as a full disk does. The next one then begins on a line of its own.
struct LineWriter: Sendable {
    /// Whether a line was begun and not ended.
    private(set) var isCut = false

    /// What is not taken is lost.
    mutating func write(_ text: String, to handle: FileHandle) {
        let start = try? handle.offset()
        do {
            try handle.write(contentsOf: Data((isCut ? "\n" + text : text).utf8))
            isCut = false
        } catch {
            // Of a pipe nobody knows how much it took.
            let end = try? handle.offset()
            isCut = isCut || start == nil || end != start
        }
    }
}
