internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastTransport
internal import Logging

/// Standard output and standard error: lines, and on a terminal one line at the bottom that is drawn over.
///
/// A failure to write ends no delivery. A reader that has closed the pipe wants no more. Other failures of standard output are
/// told at the command's end (``outputFailure``), since the reader would take a part for the whole.
final class Console: Sendable {
    private struct State: Sendable {
        var statusLine = ""
        var outputFailure: ToolError?
        var hasReader = true
        var errors = LineWriter()
        var warned: Set<String> = []
        var trouble: Trouble?
    }

    /// A line for an error or a warning.
    typealias Trouble = @Sendable (Logger.Level, String) -> String

    private let state = Monitor(State())
    /// Whether standard error is a terminal, so that a progress line makes sense.
    let isInteractive: Bool
    /// Whether to use colour on standard error and standard output.
    let usesColor: Bool

    /// The process's own streams.
    static let standard = Console(
        isInteractive: isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb",
        usesColor: isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
            && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
            && ProcessInfo.processInfo.environment["TERM"] != "dumb")

    init(isInteractive: Bool, usesColor: Bool) {
        self.isInteractive = isInteractive
        self.usesColor = usesColor
    }

    /// Writes a line to standard output, at once.
    func print(_ line: String) {
        state.withLock { state in
            clear(&state)
            do throws(ToolError) {
                if try !Self.output(Array((line + "\n").utf8)) { state.hasReader = false }
            } catch {
                state.outputFailure = state.outputFailure ?? error
            }
        }
    }

    /// The first failure to write to standard output; `nil` if all was written, or its reader has gone.
    var outputFailure: ToolError? { state.withLock { $0.outputFailure } }

    /// Whether anybody still reads standard output: long work for a closed pipe is in vain.
    var hasReader: Bool { state.withLock { $0.hasReader && $0.outputFailure == nil } }

    /// Writes bytes to standard output. A closed pipe is no failure.
    ///
    /// - Returns: false for a closed pipe.
    private static func output(_ bytes: [UInt8]) throws(ToolError) -> Bool {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
            return true
        } catch {
            if !isClosedPipe(error) { throw refusal(error) }
            return false
        }
    }

    /// The same for what must not be cut short unnoticed: a closed pipe is a failure, too.
    static func export(_ bytes: [UInt8]) throws(ToolError) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            throw refusal(error)
        }
    }

    private static func refusal(_ error: any Error) -> ToolError {
        // Foundation has no words of the system's for a descriptor that is closed.
        let isClosed = fcntl(STDOUT_FILENO, F_GETFD) < 0
        let words = isClosed ? "it is closed" : FileFailure.words(error)
        return ToolError(.inputOutput, "standard output could not be written: \(words)")
    }

    private static func isClosedPipe(_ error: any Error) -> Bool {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return cause.domain == NSPOSIXErrorDomain && cause.code == Int(EPIPE)
    }

    /// Writes a line to standard error.
    func note(_ line: String) {
        state.withLock { state in
            let statusLine = state.statusLine
            clear(&state)
            write(line + "\n", &state)
            draw(statusLine, &state)
        }
    }

    /// Writes a question to standard error, whose answer is awaited on the same line.
    func prompt(_ text: String) {
        state.withLock { state in
            clear(&state)
            write(text, &state)
        }
    }

    /// How errors and warnings are written; nil for plain text. Where a log is made of objects, whoever reads it expects that of
    /// each line.
    var trouble: Trouble? {
        get { state.withLock { $0.trouble } }
        set { state.withLock { $0.trouble = newValue } }
    }

    func error(_ message: String) { tell(.error, message, .red) }

    func warning(_ message: String) { tell(.warning, message, .yellow) }

    private func tell(_ level: Logger.Level, _ message: String, _ color: Color) {
        note(trouble?(level, message) ?? "\(colored("\(level.rawValue):", color)) \(message)")
    }

    /// Warns of what is found again wherever a command looks: the first time.
    func warning(once message: String) {
        if state.withLock({ $0.warned.insert(message).inserted }) { warning(message) }
    }

    /// Draws the line at the bottom; an empty text removes it. Does nothing when nobody watches.
    func showStatus(_ text: String) {
        guard isInteractive else { return }
        // A longer one would go on in the next line, which nobody clears.
        let width = TerminalSize.statusLine
        let text = text.count > width ? String(text.prefix(width - 1)) + "…" : text
        state.withLock { state in
            guard text != state.statusLine else { return }
            clear(&state)
            draw(text, &state)
        }
    }

    enum Color: String {
        case red = "31"
        case yellow = "33"
        case green = "32"
        case faint = "2"
        case bold = "1"
    }

    func colored(_ text: String, _ color: Color) -> String {
        usesColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
    }

    private func clear(_ state: inout State) {
        guard !state.statusLine.isEmpty else { return }
        write("\r\u{1B}[K", &state)
        state.statusLine = ""
    }

    private func draw(_ text: String, _ state: inout State) {
        guard isInteractive, !text.isEmpty else { return }
        write(text, &state)
        state.statusLine = text
    }

    private func write(_ text: String, _ state: inout State) { state.errors.write(text, to: .standardError) }
}

/// JSON as this tool prints it: as the control socket says it, in one line.
enum JSONOutput {
    static func line(_ value: some Encodable) throws -> String { try Form.text(value) }
}
