import Foundation
import Holdfast
import Scratch
import Testing

/// A terminal of a size of its own, in which a command runs: tmux.
final class Tmux: Sendable {
    static let path = ["/usr/bin/tmux", "/usr/local/bin/tmux"].first(where: FileManager.default.isExecutableFile)

    /// Skipped where tmux is not installed, unless HOLDFAST_REQUIRE_FOREIGN=1.
    static var isWanted: Bool { path != nil || ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN"] == "1" }

    let size: (columns: Int, rows: Int)
    private let folder: TemporaryFolder

    /// - Parameter command: for a shell, which stays when the command has ended.
    init(columns: Int, rows: Int, locale: String = "C.UTF-8", _ command: String) throws {
        size = (columns, rows)
        folder = try TemporaryFolder()
        try folder.write("tmux.conf", "set -g status off\nset -g default-terminal screen-256color\n")
        // A shell without job control and prompt of the machine's own.
        try run(
            "-f", folder("tmux.conf"), "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)",
            "env LC_ALL=\(locale) HOLDFAST_CONFIG= PS1='shell> ' /bin/sh -i")
        #expect(screen.contains("shell>") || wait(for: "shell>"))
        keys("stty -a > \(folder("before")); \(command); echo \"ended $?\"; stty -a > \(folder("after"))", "Enter")
    }

    /// Ends the server, which goes with its last session. `kill-server` would not: it is a signal of the server to itself, and those
    /// are blocked in what Foundation starts from a thread of Swift's pool.
    deinit { _ = try? run("kill-session") }

    /// Foundation sees the end of a process by a descriptor of its own, which the server of the first call would keep open.
    private static let closing =
        #"for f in /proc/$$/fd/*; do n=${f##*/}; if [ "$n" -gt 2 ]; then eval "exec $n>&-"; fi; done; exec "$@""#

    @discardableResult
    func run(_ arguments: String...) throws -> String {
        let process = Process()
        let program = try #require(Self.path, "tmux is missing")
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments =
            ["-c", Self.closing, "bash", program, "-u", "-S", folder("socket")] + arguments
        // A file: the server of the first call would keep a pipe open.
        try folder.write("output", "")
        process.standardOutput = try FileHandle(forWritingTo: folder.url("output"))
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return try folder.read("output")
    }

    func keys(_ keys: String...) {
        for key in keys { _ = try? run("send-keys", key) }
    }

    /// What is on the screen, without spaces at the ends of lines.
    var screen: String { (try? run("capture-pane", "-p")) ?? "" }

    /// Waits until a text is on the screen.
    func wait(for text: String, limit: Duration = .seconds(20)) -> Bool {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if screen.contains(text) { return true }
            Thread.sleep(forTimeInterval: 0.03)
        }
        return false
    }

    /// Resizes the terminal.
    func resize(columns: Int, rows: Int) throws { try run("resize-window", "-x", "\(columns)", "-y", "\(rows)") }

    /// Whether the terminal is as it was before the command.
    func isSane() throws -> Bool {
        // All but its size, which may be another by now.
        func modes(_ name: String) throws -> [Substring] {
            try folder.read(name).split(separator: "\n").filter { !$0.contains("rows") }
        }
        let before = try modes("before")
        return try !before.isEmpty && before == modes("after")
    }

    /// Whether the screen of before is shown, with a cursor.
    func hasCursor() throws -> Bool {
        try run("display-message", "-p", "#{cursor_flag} #{alternate_on}") == "1 0\n"
    }
}
