internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService
internal import HoldfastTransport

/// The story of `holdfast demo`: a sender is killed in the middle, and nothing is lost.
///
/// Its parts are the commands of this program, each in a process of its own.
struct CrashDemo: Sendable {
    /// The names of its properties are those of the JSON.
    struct Report: Encodable, Sendable {
        var notifications: Int
        /// The most in flight, and so the most that may go twice.
        var window: Int
        /// How many the push service had taken when the sender was killed.
        var takenAtKill = 0
        /// How many the dead sender left in the journal.
        var leftByKill = 0
        var lost = 0
        var duplicates = 0
        /// How many are in the journal at the end.
        var left = 0

        var isGood: Bool { lost == 0 && left == 0 && duplicates <= window }
    }

    let count: Int
    let directory: DemoDirectory
    let json: Bool

    private var journal: String { directory.file("demo.journal") }
    private var ledger: String { directory.file("ledger.ndjson") }

    /// In flight at a time: as many as make ten rounds of answers, so that there is a middle to be killed in.
    private var window: Int { min(2000, max(1, count / 10)) }

    /// - Throws: ``ToolError`` when a part fails; `CancellationError`.
    func run() async throws -> Report {
        var report = Report(notifications: count, window: window)
        say("$ cd \(directory.path)")
        say("$ export HOLDFAST_JOURNAL=\(journal)")

        step("A push service to send to: Apple's validation and answers, and a ledger of all that it took")
        let mock = try await startMock()

        step("\(Format.count(count)) notifications, one a line")
        say(try writeNotifications().joined(separator: "\n"))

        step("Sending them, and killing the sender (kill -9) when the service has taken a quarter")
        report.takenAtKill = try await killedSender(to: mock.port)
        say("killed; the service had taken \(Format.count(report.takenAtKill)) of \(Format.count(count))")

        step("The journal of the dead sender")
        try await show(["journal", "status"])
        report.leftByKill = try unconfirmed()

        step("Delivering what it left: the journal remembers where to")
        try await show(["recover"])

        step("Taking the rest of the file: no line skipped, none taken twice")
        try await show(["send", "notifications.ndjson", "--resume"])

        step("The audit: what the service took, against what was to be sent")
        say("$ holdfast mock audit ledger.ndjson --input notifications.ndjson --allow-duplicates \(window)")
        let audit = try await AuditReport(
            comparing: InputFile(directory.file("notifications.ndjson")), with: [InputFile(ledger)])
        say(audit.text())
        (report.lost, report.duplicates, report.left) = (audit.lost, audit.duplicates, try unconfirmed())
        withExtendedLifetime(mock.process) {}
        return report
    }

    // MARK: The parts

    private func start(_ arguments: [String], _ output: OwnProcess.Output) throws(ToolError) -> OwnProcess {
        try OwnProcess(
            arguments, in: directory.path, environment: OwnProgram.environment(journal: journal), output: output)
    }

    /// Slow enough for a human, and for a kill in the middle.
    private func startMock() async throws -> (process: OwnProcess, port: Int) {
        let arguments = [
            "mock", "http2", "--listen", "127.0.0.1:0", "--certificate-directory", "certs", "--ledger", "ledger.ndjson",
            "--delay", "50",
        ]
        say("$ holdfast \(arguments.joined(separator: " "))")
        let said = directory.file("mock.out")
        let mock = try start(arguments + ["--until-input-ends"], .file(said))
        let port = try await DemoMock.port(of: mock, saying: said)
        say("listening on 127.0.0.1:\(port)")
        return (mock, port)
    }

    /// - Returns: the first two.
    private func writeNotifications() throws(ToolError) -> [String] {
        let path = directory.file("notifications.ndjson")
        do {
            try Data().write(to: URL(fileURLWithPath: path))
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            for start in stride(from: 1, through: count, by: 1000) {
                let lines = (start...min(start + 999, count)).map { Self.line($0) + "\n" }
                try file.write(contentsOf: Data(lines.joined().utf8))
            }
            try file.close()
        } catch {
            throw ToolError(.inputOutput, "\(path) can't be written: \(FileFailure.words(error))")
        }
        return [1, 2].map(Self.line)
    }

    private static func line(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        let token = String(repeating: "0", count: 64 - digits.count) + digits
        return #"{"token":"\#(token)","apns-topic":"com.example.app","payload":{"aps":{"alert":"Number \#(number)"}}}"#
    }

    /// - Returns: how many the service had taken when the sender was killed.
    private func killedSender(to port: Int) async throws -> Int {
        let arguments = [
            "send", "notifications.ndjson", "--endpoint", "https://127.0.0.1:\(port)", "--trust", "certs/ca.pem",
            "--key",
            "certs/AuthKey.p8", "--key-id", "MOCKKEYID1", "--team-id", "MOCKTEAMID", "--window", "\(window)",
        ]
        say("$ holdfast \(arguments.joined(separator: " "))")
        let said = directory.file("send.out")
        let sender = try start(arguments, .file(said))
        var taken = LineCounter(path: ledger)
        while sender.isRunning, try taken.count() < max(1, count / 4) { try await Task.sleep(for: .milliseconds(2)) }
        let wasKilled = sender.kill()
        let status = try await sender.end()
        guard wasKilled, status == 128 + SIGKILL else {
            let words = (try? String(contentsOfFile: said, encoding: .utf8)) ?? ""
            throw ToolError(
                .notAllConfirmed, "the sender ended before it could be killed, with code \(status):\n\(words)")
        }
        return try taken.count()
    }

    /// Shows a command and what it prints.
    private func show(_ arguments: [String]) async throws {
        say("$ holdfast \(arguments.joined(separator: " "))")
        let said = directory.file("command.out")
        let status = try await start(arguments, json ? .file(said) : .shared).end()
        guard status == 0 else {
            let words = json ? (try? String(contentsOfFile: said, encoding: .utf8)) ?? "" : ""
            throw ToolError(
                .notAllConfirmed, "`holdfast \(arguments.joined(separator: " "))` ended with code \(status)\n\(words)")
        }
    }

    private func unconfirmed() throws -> Int {
        let reader = try JournalReader(at: journal)
        defer { reader.close() }
        return try reader.status().unconfirmed
    }

    // MARK: Words

    private func step(_ text: String) { if !json { Console.standard.print(DemoText.heading(text)) } }

    private func say(_ text: String) { if !json { Console.standard.print(text) } }
}

/// The words that demos have in common.
enum DemoText {
    /// For `holdfast init`: root's is this user's own too, and no service of the machine.
    static var ownUser: String { geteuid() == 0 ? " --user \(ShellText.word(NSUserName()))" : "" }

    /// In a directory of its own: without one, root would make the service of the machine.
    static var initialCommand: String { "holdfast init --directory push\(ownUser)" }

    static func heading(_ text: String) -> String { "\n" + Console.standard.colored("== \(text)", .bold) }

    static func next(_ rows: [(String, String)]) -> String {
        heading("What to type next") + "\n" + DeliverySummary.table(rows.map { ($0.0, "", $0.1) })
    }
}

/// The mock of a demo, in a process of its own.
enum DemoMock {
    /// Waits until it listens.
    ///
    /// - Parameter path: the file with its output.
    /// - Throws: ``ToolError`` when it ends before that; `CancellationError`.
    static func port(of process: OwnProcess, saying path: String) async throws -> Int {
        let prefix = "listening on "
        while true {
            let isRunning = process.isRunning
            let said = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            if let line = said.split(separator: "\n").first(where: { $0.hasPrefix(prefix) }), said.hasSuffix("\n"),
                let port = Int(line.split(separator: ":").last ?? "")
            {
                return port
            }
            guard isRunning else { throw ToolError(.unavailable, "the mock push service did not start: \(said)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// Counts the lines of a file that grows, and reads each part once.
struct LineCounter {
    let path: String
    private var file: FileHandle?
    private var counted = 0

    init(path: String) { self.path = path }

    /// Lines so far; none while there is no such file.
    mutating func count() throws -> Int {
        if file == nil { file = FileHandle(forReadingAtPath: path) }
        while let more = try file?.read(upToCount: 1 << 16), !more.isEmpty {
            counted += more.count { $0 == UInt8(ascii: "\n") }
        }
        return counted
    }
}
