import Foundation
import HoldfastAPNsAnswers
import HoldfastJournal
import HoldfastService
import Scratch
import Testing

@testable import Holdfast
@testable import HoldfastTool

@Suite("Exit codes")
struct ToolStatusTests {
    @Test("When several things are true, the exit code says the gravest")
    func precedence() {
        var summary = DeliverySummary()
        #expect(summary.status(error: nil) == .ok)
        summary.expired = 1
        #expect(summary.status(error: nil) == .notAllConfirmed)
        summary.expired = 0
        summary.unknown = 1
        #expect(summary.status(error: nil) == .notAllConfirmed)
        summary.rejected = ["BadTopic": 1]
        #expect(summary.status(error: nil) == .notAllConfirmed)
        summary.refused = ["BadPriority": 1]
        #expect(summary.status(error: nil) == .badInput)
        summary.refused = [:]
        summary.malformed = 1
        #expect(summary.status(error: nil) == .badInput)
        summary.left = 1
        #expect(summary.status(error: nil) == .entriesLeft)
        summary.left = 0
        summary.inputFinished = false
        #expect(summary.status(error: nil) == .entriesLeft)
        summary = DeliverySummary(queueOnly: true, left: 1)
        #expect(summary.status(error: nil) == .ok)
        summary.inputFinished = false
        #expect(summary.status(error: nil) == .entriesLeft)
        #expect(summary.status(error: ToolError(.configuration, "")) == .configuration)
        #expect(summary.status(error: ToolError(.inputOutput, "")) == .inputOutput)
    }

    @Test("The numbers are those of sysexits.h, each once")
    func numbers() {
        #expect(Set(ToolStatus.allCases.map(\.rawValue)).count == ToolStatus.allCases.count)
        #expect(
            ToolStatus.allCases.map(\.rawValue).sorted() == [0, 1, 3, 64, 65, 66, 68, 69, 70, 72, 73, 74, 75, 77, 78])
    }

    @Test(
        "Errors of the journal have exit codes of their own",
        arguments: [
            (JournalError.Code.ownedByAnotherProcess, ToolStatus.cannotOpen), (.newerFormat, .unreadable),
            (.damaged, .unreadable),
            (.notFound, .noInput), (.permissionDenied, .noPermission), (.diskFull, .inputOutput),
            (.limitReached, .inputOutput),
            (.inputOutput, .inputOutput), (.undetermined, .inputOutput), (.unsupportedFileSystem, .cannotOpen),
        ])
    func journalErrors(_ code: JournalError.Code, _ status: ToolStatus) {
        #expect(ToolError(JournalError(code, "x")).status == status)
    }
}

@Suite("What cannot be written or read")
struct RefusedStreamTests {
    /// Runs the tool by way of a shell.
    private func tool(_ script: String, _ arguments: [String]) async throws -> Tool.Result {
        try await RunningTool(["-c", script, Tool.path] + arguments, program: "/bin/sh").result()
    }

    private func journal() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let journal = try LMDBJournal(directory: folder("j"))
        defer { journal.close() }
        let token = try DeviceToken(OperatorWorld.token(1))
        let entry = BlacklistEntry(
            token: token, reason: .unregistered, since: WallTime(milliseconds: 0), learntAt: WallTime(milliseconds: 0),
            route: "default")
        let done = Monitor<Result<Void, JournalError>?>(nil)
        journal.blacklist.add([entry]) { result in done.withLock { $0 = result } }
        while done.withLock({ $0 == nil }) { sched_yield() }
        return folder
    }

    @Test(
        "A full disk behind standard output ends any command with 74 and says so; a closed pipe is no failure",
        arguments: [
            ["journal", "status"], ["journal", "list", "--json"], ["journal", "verify"], ["lanes", "list"],
            ["blacklist", "list"],
            ["blacklist", "export"], ["help"], ["config", "check", "--help"],
        ])
    func full(_ command: [String]) async throws {
        let folder = try journal()
        let isHelp = command.contains("help") || command.contains("--help")
        let arguments = command + (isHelp ? [] : ["--journal", folder("j")])
        let sound = try await tool(#"exec "$0" "$@""#, arguments)
        #expect(sound.status == 0, "\(sound.errors)")
        guard !sound.output.isEmpty else { return }
        let full = try await tool(#"exec "$0" "$@" >/dev/full"#, arguments)
        #expect(full.status == 74 && full.errors.contains("standard output could not be written"), "\(full)")
        if command.last != "export" {
            // The shell's status is that of the pipe's end, so the tool's is told apart.
            let closed = try await tool(#"{ "$0" "$@"; echo "ended $?" >&2; } | true"#, arguments)
            #expect(!closed.errors.contains("ended 74"), "\(closed)")
        }
    }

    @Test(
        "A journal that is closed to the user is no missing one: 77",
        .enabled(if: getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")),
        arguments: [["journal", "status"], ["recover"], ["blacklist", "list"]])
    func permission(_ command: [String]) async throws {
        let folder = try journal()
        let result = try await tool(
            #"exec /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups "$0" "$@""#,
            command + ["--journal", folder("j")])
        // Where the program itself is closed to that user there is nothing to see.
        guard result.status != 126, result.status != 127 else { return }
        #expect(result.status == 77 && result.errors.contains("closed to this user"), "\(result)")
    }

    @Test(
        "A journal on a file system that is mounted for reading only can't be served, and --check says so: 77",
        .enabled(if: getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")))
    func readOnly() async throws {
        let folder = try journal()
        try folder.write(
            "c.yaml",
            """
            journal: {path: j}
            routes: [{endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        let script = #"""
            unshare -m true || exit 126
            exec unshare -m sh -c \
                'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$0" serve --check --config "$2"' "$0" "$@"
            """#
        let result = try await tool(script, [folder("j"), folder("c.yaml")])
        // Where root may mount nothing, as in most containers, there is nothing to see.
        guard result.status != 126 else { return }
        #expect(result.status == 77, "\(result)")
        #expect((result.output + result.errors).contains("mounted for reading only"), "\(result)")
    }
}

@Suite("Summaries and progress")
struct SummaryTests {
    private var full: DeliverySummary {
        var summary = DeliverySummary()
        summary.file = "a/b.ndjson"
        summary.lines = 20003
        summary.resumedAtLine = 12001
        summary.accepted = 20000
        summary.malformed = 1
        summary.refused = ["BadPriority": 2]
        summary.leftFromBefore = 5
        summary.confirmed = 19990
        summary.confirmedByAnswer = 4000
        summary.confirmedByBarrier = 15000
        summary.confirmedByQuiet = 990
        summary.wronglyConfirmed = 6
        summary.rejected = ["Unregistered": 2, "BadTopic": 7]
        summary.expired = 1
        summary.unknown = 2
        summary.left = 3
        summary.possibleDuplicates = 4
        summary.elapsedSeconds = 1.25
        summary.perSecond = 16002
        summary.exitCode = 75
        return summary
    }

    @Test("The summary's JSON is the documented one")
    func goldenJSON() throws {
        #expect(
            try JSONOutput.line(full) == """
                {"accepted":20000,"confirmed":19990,"confirmedByAnswer":4000,"confirmedByBarrier":15000,\
                "confirmedByQuiet":990,"elapsedSeconds":1.25,"exitCode":75,"expired":1,"file":"a/b.ndjson",\
                "inputFinished":true,"interrupted":false,"left":3,"leftFromBefore":5,"lines":20003,"malformed":1,\
                "perSecond":16002,"possibleDuplicates":4,"queueOnly":false,"refused":{"BadPriority":2},\
                "rejected":{"BadTopic":7,"Unregistered":2},"repeated":0,"resumedAtLine":12001,"unknown":2,\
                "withdrawn":0,"wronglyConfirmed":6}
                """)
    }

    @Test("What operators took back is counted, and is no success; what the journal can't say is no number")
    func takenBack() throws {
        var summary = DeliverySummary()
        summary.accepted = 6
        summary.withdrawn = 6
        #expect(summary.status(error: nil) == .notAllConfirmed)
        #expect(summary.text().contains("6  taken back, and never sent"), "\(summary.text())")
        summary.left = nil
        #expect(try !JSONOutput.line(summary).contains("\"left\""))
        #expect(summary.text().contains("?  safe in the journal, which failed: `holdfast recover` delivers them"))
    }

    @Test("The summary for people names what happened, and leaves out what did not")
    func text() {
        #expect(
            full.text() == """
                  lines                20,003  from line 12,001 on
                  accepted             20,000  journaled before they were sent
                  malformed                 1  not taken
                  refused                   2  BadPriority 2
                  left before               5  found in the journal
                  confirmed            19,990  taken by the push service
                    by an answer        4,000  an error behind them, or their own answer: proof
                    by a barrier       15,000  its answer: proof
                    by silence            990  no error came in the quiet period: a guess
                    denied later            6  guessed wrong: an error came too late, and they were not taken
                  rejected                  9  BadTopic 7, Unregistered 2
                  expired                   1  over before they could be sent
                  unknown                   2  perhaps taken, and not to be sent again
                  left                      3  safe in the journal: `holdfast recover` delivers them
                  possible duplicates       4  sent again with the same apns-id
                  elapsed              1.25 s  16,002 a second
                """)
        #expect(!DeliverySummary().text().contains("rejected"))
        #expect(!DeliverySummary().text().contains("silence"))
    }

    @Test("The progress line fits the terminal and says what is known")
    func progress() {
        var line = ProgressLine(
            submitted: 10000, confirmed: 5000, rejected: 2, settled: 5002, backlog: 4998, inputFraction: 0.5, rate: 5000
        )
        #expect(
            line.text(width: 100) == "[###---------] 10,000 submitted, 5,000 confirmed, 2 rejected, 5,000/s, 3 s left")
        #expect(line.text(width: 72) == "[#----] 10,000 submitted, 5,000 confirmed, 2 rejected, 5,000/s, 3 s left")
        #expect(line.text(width: 30).count == 30)
        line.inputFraction = nil
        #expect(line.text() == "10,000 submitted, 5,000 confirmed, 2 rejected, 5,000/s")
        line.trouble = "no route to host"
        #expect(
            line.text(width: 200) == "10,000 submitted, 5,000 confirmed, 2 rejected, 4,998 waiting: no route to host")
        #expect(ProgressLine().text() == "0 submitted, 0 confirmed, 0 rejected, 0/s")
    }

    @Test("The rate is that of the last seconds")
    func rate() {
        var meter = RateMeter()
        #expect(meter.rate == 0)
        for tenth in 0...100 { meter.add(tenth * 100, at: .milliseconds(tenth * 100)) }
        #expect(meter.rate == 1000)
        for tenth in 101...200 { meter.add(10000, at: .milliseconds(tenth * 100)) }
        #expect(meter.rate == 0)
    }

    @Test("Figures are written for people")
    func formats() {
        #expect(Format.count(0) == "0" && Format.count(999) == "999" && Format.count(1000) == "1,000")
        #expect(Format.count(-1_234_567) == "-1,234,567")
        #expect(Format.duration(.milliseconds(1250)) == "1.25 s" && Format.duration(.seconds(42)) == "42 s")
        #expect(Format.bytes(512) == "512 B" && Format.bytes(1536) == "1.5 KB" && Format.bytes(64 << 20) == "64.0 MB")
        #expect(Format.plural(1, "line") == "1 line" && Format.plural(0, "line") == "0 lines")
    }
}

@Suite("Judging the connection")
struct ConnectionWatcherTests {
    private let away = ConnectError(.temporary, "connection refused")

    @Test("A configuration error ends the run at once, with its words")
    func configuration() {
        var watcher = ConnectionWatcher(giveUpAfter: nil)
        let error = ConnectError(.configuration, "ca.pem does not certify localhost")
        #expect(
            watcher.look(["default": .waiting(error)], at: .zero).error
                == ToolError(.configuration, "nothing more can be sent: \(error.message)"))
    }

    @Test("A service that is away is waited for, and said once")
    func waits() {
        var watcher = ConnectionWatcher(giveUpAfter: nil)
        #expect(watcher.look(["default": .connecting], at: .zero) == ConnectionWatcher.Finding())
        #expect(watcher.look(["default": .waiting(away)], at: .seconds(1)).news == ["connection refused"])
        let later = watcher.look(["default": .waiting(away)], at: .seconds(100_000))
        #expect(later == ConnectionWatcher.Finding(trouble: "connection refused"))
        _ = watcher.look(["default": .connected], at: .seconds(100_001))
        #expect(watcher.look(["default": .waiting(away)], at: .seconds(100_002)).news == ["connection refused"])
    }

    @Test("--give-up-after counts from when all was well last, over all attempts")
    func givesUp() {
        var watcher = ConnectionWatcher(giveUpAfter: .seconds(10))
        #expect(watcher.look(["default": .connected], at: .seconds(100)).error == nil)
        #expect(watcher.look(["default": .waiting(away)], at: .seconds(105)).error == nil)
        #expect(watcher.look(["default": .waiting(away)], at: .seconds(109)).error == nil)
        let error = watcher.look(["default": .waiting(away)], at: .seconds(110)).error
        #expect(error?.status == .entriesLeft)
        #expect(error?.message.contains("connection refused") == true)
    }

    @Test("A connection in between starts the count anew")
    func connectionInBetween() {
        var watcher = ConnectionWatcher(giveUpAfter: .seconds(10))
        _ = watcher.look(["default": .waiting(away)], at: .seconds(0))
        _ = watcher.look(["default": .connected], at: .seconds(9))
        #expect(watcher.look(["default": .waiting(away)], at: .seconds(18)).error == nil)
        #expect(watcher.look(["default": .waiting(away)], at: .seconds(19)).error?.status == .entriesLeft)
    }

    @Test(
        "One route that must be mended ends nothing while another has something to send, and ends the run when none has"
    )
    func severalRoutes() {
        var watcher = ConnectionWatcher(giveUpAfter: nil)
        let broken = ConnectError(.configuration, "ca.pem does not certify localhost")
        let connections: [String: EngineStatus.ConnectionState] = ["a": .connected, "b": .waiting(broken)]
        let first = watcher.look(connections, needed: ["a", "b"], at: .zero)
        #expect(first.news == ["route b: ca.pem does not certify localhost"])
        #expect(first.error == nil && first.trouble == "ca.pem does not certify localhost")
        // While input may still come for both, all count.
        #expect(watcher.look(connections, at: .seconds(1)) == .init(trouble: "ca.pem does not certify localhost"))
        #expect(watcher.look(connections, needed: ["b"], at: .seconds(2)).error?.status == .configuration)
    }
}
