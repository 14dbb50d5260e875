internal import Foundation

/// How wide a terminal is.
enum TerminalSize {
    /// - Parameter descriptor: an open file, such as that of standard error.
    /// - Returns: `COLUMNS` if it is set, else the terminal's own word; nil for what is no terminal, or says nothing.
    static func columns(
        of descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Columns for paragraphs on standard output, behind two spaces: at most 92, and no wider than the terminal.
    static var paragraph: Int { columns(of: STDOUT_FILENO).map { min(92, max(40, $0 - 2)) } ?? 92 }

    /// Columns for a line on standard error that is drawn over: one less than the terminal has, which breaks no line.
    static var statusLine: Int { max(20, (columns(of: STDERR_FILENO) ?? 80) - 1) }
}
