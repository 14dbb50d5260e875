import Foundation
import Scratch
import Testing

@testable import HoldfastTool

/// `send FILE --report`, as a process, over kill -9.
@Suite("The report of a file", .serialized)
struct ReportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var report: String { folder("report") }

    private func line(_ number: Int, _ members: String = "") -> String {
        #"{"token":"\#(OperatorWorld.token(number))","apns-topic":"a","payload":{"id":"n\#(number)"}\#(members)}"#
    }

    private func write(_ lines: [String]) throws { try folder.write("in", lines.joined(separator: "\n") + "\n") }

    private func start(_ more: String..., at mock: MockProcess) throws -> RunningTool {
        try Tool.start(
            [
                "send", folder("in"), "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust,
                "--report", report,
            ] + more)
    }

    /// The lines of the report, by their numbers.
    private func lines() throws -> [Int: [[String: Any]]] {
        var found: [Int: [[String: Any]]] = [:]
        for text in try folder.read("report").split(separator: "\n") {
            let line = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            found[try #require(line["line"] as? Int), default: []].append(line)
        }
        return found
    }

    private func outcomes() throws -> [Int: [String]] {
        try lines().mapValues { $0.compactMap { $0["outcome"] as? String } }
    }

    private var isOpen: Bool { FileManager.default.fileExists(atPath: report + ".resume") }

    @Test("Each notification has a line, with the number of its line and its outcome, refused and malformed ones too")
    func whole() async throws {
        let mock = try await MockProcess("--reject", "\(OperatorWorld.token(2))=Unregistered", in: folder)
        let tokens = "\"\(OperatorWorld.token(11))\",\"\(OperatorWorld.token(12))\""
        try write([
            line(1, #","tag":"campaign","context":"order 7""#), line(2), "{bad", "",
            #"{"tokens":[\#(tokens)],"apns-topic":"a","payload":{}}"#, line(6, #","apns-push-type":"none""#),
        ])
        let sent = try await start("--json", at: mock).result()
        #expect(sent.status == 65, "\(sent.errors)")
        #expect(try sent.count("reportOpen") == 0 && sent.json()["report"] as? String == report)
        let lines = try lines()
        #expect(
            try outcomes() == [
                1: ["confirmed"], 2: ["rejected"], 3: ["malformed"], 5: ["confirmed", "confirmed"], 6: ["refused"],
            ])
        let first = try #require(lines[1]?.first)
        #expect(first["token"] as? String == OperatorWorld.token(1) && first["tag"] as? String == "campaign")
        #expect(first["context"] as? String == "order 7" && first["uid"] as? Int == 1 && first["payload-base64"] == nil)
        #expect(lines[2]?.first?["reason"] as? String == "Unregistered" && lines[2]?.first?["status"] as? Int == 410)
        #expect((lines[3]?.first?["detail"] as? String)?.contains("at byte 2") == true)
        #expect(lines[6]?.first?["reason"] as? String == "InvalidPushType")
        #expect(!isOpen)
        let mode = try FileManager.default.attributesOfItem(atPath: report)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // The same encoding.
        let listed = try await Tool.run(
            "outcomes", "list", "--after", "0", "--reveal", "--json", "--journal", folder("j"))
        let outcome = try #require(try listed.lines().first { $0["uid"] as? Int == 1 })
        var without = first
        without["line"] = nil
        #expect(without as NSDictionary == outcome as NSDictionary)
        // Of a file that is over, its report is too.
        let written = try folder.read("report")
        let again = try await start("--resume", at: mock).result()
        #expect(again.status == 0 && again.errors.contains("is finished, too"), "\(again.errors)")
        #expect(try folder.read("report") == written)
    }

    @Test("Killed again and again, each line is in the report once in the end")
    func killed() async throws {
        let mock = try await MockProcess(in: folder)
        try write((1...9000).map { line($0) })
        var isBegun = false
        for _ in 0..<4 {
            let tool = isBegun ? try start("--resume", at: mock) : try start(at: mock)
            let before = try mock.taken()
            #expect(try await waitUntil { try mock.taken() > before + Int.random(in: 0...900) || !tool.isRunning })
            tool.kill(SIGKILL)
            _ = try await tool.result()
            isBegun = true
        }
        let last = try await start("--resume", "--json", at: mock).result()
        #expect(last.status == 0, "\(last.errors)")
        let outcomes = try outcomes()
        #expect(outcomes.count == 9000 && outcomes.values.allSatisfy { $0 == ["confirmed"] })
        #expect(!isOpen)
        let ids = try Set(lines().values.compactMap { $0.first?["apns-id"] as? String })
        #expect(ids.count == 9000)
    }

    @Test("What has no outcome when the run ends says where it stands, and the next run completes the report")
    func open() async throws {
        let mock = try await MockProcess(in: folder)
        try write([
            line(1), line(2, #","deliver-after":4000000000"#.replacingOccurrences(of: "4000000000", with: later)),
        ])
        let queued = try await start("--queue-only", at: mock).result()
        #expect(queued.status == 0 && queued.output.contains("2 without an outcome yet"), "\(queued.errors)")
        #expect(try outcomes() == [1: ["unconfirmed"], 2: ["scheduled"]])
        #expect(try lines()[2]?.first?["dueAt"] as? String != nil)
        let sent = try await start("--resume", at: mock).result()
        #expect(sent.status == 75, "\(sent.errors)")
        #expect(try outcomes() == [1: ["confirmed"], 2: ["scheduled"]] && isOpen)
        let dropped = try await Tool.run("journal", "drop", "2", "--yes", "--journal", folder("j"))
        #expect(dropped.status == 0, "\(dropped.errors)")
        let last = try await start("--resume", at: mock).result()
        #expect(last.status == 0, "\(last.errors)")
        #expect(try outcomes() == [1: ["confirmed"], 2: ["withdrawn"]] && !isOpen)
    }

    private var later: String { String(Int(Date().timeIntervalSince1970) + 3600) }

    /// What a kill -9 leaves that came while the journal was made.
    private func begin() async throws {
        let report = try await SendReport.open(
            report, nil, of: try InputFile(folder("in")), at: InputPlace(decision: .fromStart),
            in: .directory(folder("j")), journal: folder("j")
        ) { _, _ in
            preconditionFailure("nothing was taken")
        }
        _ = try await report.ledger.finish(isWhole: false, fates: { uids in uids.map { _ in nil } }, troubles: [:])
    }

    @Test("Killed while its journal was made, it begins with the first line", arguments: [true, false])
    func unmade(isThere: Bool) async throws {
        let mock = try await MockProcess(in: folder)
        try write((1...3).map { line($0) })
        try await begin()
        if isThere {
            try FileManager.default.createDirectory(atPath: folder("j/entries"), withIntermediateDirectories: true)
            try folder.write("j/incomplete", "")
            try folder.write("j/owner.lock", "")
        }
        let status = try await Tool.run("journal", "status", "--journal", folder("j"))
        #expect(status.status == 66, "\(status.errors)")
        let sent = try await start("--resume", at: mock).result()
        #expect(sent.status == 0 && sent.errors.contains("nothing of it was taken so far"), "\(sent.errors)")
        #expect(try outcomes() == [1: ["confirmed"], 2: ["confirmed"], 3: ["confirmed"]] && !isOpen)
    }

    @Test("A journal behind a link is the same before it is made and after")
    func behindLink() async throws {
        let mock = try await MockProcess(in: folder)
        try write([line(1)])
        try FileManager.default.createDirectory(atPath: folder("real"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: folder("real"))
        let flags = [
            "send", folder("in"), "--journal", folder("link/j"), "--endpoint", mock.endpoint, "--trust", mock.trust,
            "--report", report,
        ]
        #expect(try await Tool.start(flags + ["--queue-only"]).result().status == 0)
        let sent = try await Tool.start(flags + ["--resume"]).result()
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try outcomes() == [1: ["confirmed"]])
    }

    @Test("Where the journal that took its lines is gone, none is made in its place")
    func goneJournal() async throws {
        let mock = try await MockProcess(in: folder)
        try write([line(1)])
        #expect(try await start("--queue-only", at: mock).result().status == 0)
        try FileManager.default.moveItem(atPath: folder("j"), toPath: folder("elsewhere"))
        let gone = try await start("--resume", at: mock).result()
        #expect(gone.status == 73 && gone.errors.contains("put back the one that took it"), "\(gone.errors)")
        let wrong = try await Tool.run(
            "send", folder("in"), "--journal", folder("k"), "--endpoint", mock.endpoint, "--trust", mock.trust,
            "--report",
            report, "--resume")
        #expect(wrong.status == 73 && wrong.errors.contains("by way of"), "\(wrong.errors)")
        for name in ["j", "k"] { #expect(!FileManager.default.fileExists(atPath: folder(name))) }
        try FileManager.default.moveItem(atPath: folder("elsewhere"), toPath: folder("j"))
        #expect(try await start("--resume", at: mock).result().status == 0)
        #expect(try outcomes() == [1: ["confirmed"]])
    }

    @Test("Without a history it is written all the same")
    func withoutHistory() async throws {
        let mock = try await MockProcess(in: folder)
        try write((1...50).map { line($0) })
        try folder.write(
            "c.yaml",
            "journal:\n  history: off\nroutes:\n  - name: default\n    endpoint: \(mock.endpoint)\n    trust: \(mock.trust)\n"
        )
        let sent = try await Tool.run(
            "send", folder("in"), "--config", folder("c.yaml"), "--journal", folder("j"), "--report", report)
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try outcomes().values.allSatisfy { $0 == ["confirmed"] } && outcomes().count == 50)
    }

    @Test("A report that can't be written, or is another sending's, is refused before anything is taken")
    func refused() async throws {
        let mock = try await MockProcess(in: folder)
        try write([line(1)])
        func refusal(_ path: String, _ more: String...) async throws -> Tool.Result {
            try await Tool.start(
                [
                    "send", folder("in"), "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust,
                    "--report", path,
                ] + more
            ).result()
        }
        let missing = try await refusal(folder("no/report"))
        #expect(missing.status == 73 && missing.errors.contains("no/report"), "\(missing.errors)")
        #expect(!missing.errors.contains(".resume"), "\(missing.errors)")
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: folder("nowhere"))
        let dangling = try await refusal(folder("link"))
        #expect(dangling.status == 73 && dangling.errors.contains(folder("link")), "\(dangling.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("link.resume")))
        try folder.write("mine", "precious")
        let taken = try await refusal(folder("mine"))
        #expect(taken.status == 73 && taken.errors.contains("is there already"), "\(taken.errors)")
        #expect(try folder.read("mine") == "precious")
        #expect(try await refusal("-").status == 64)
        #expect(try await Tool.run("send", "--token", "00", "--alert", "x", "--report", "r").status == 64)
        #expect(try mock.taken() == 0)
        // Begun without one, and another file's.
        let begun = try await Tool.run(
            "send", folder("in"), "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust,
            "--queue-only")
        #expect(begun.status == 0)
        let late = try await refusal(report, "--resume")
        #expect(late.status == 64 && late.errors.contains("taken without the report"), "\(late.errors)")
        try folder.write("other", line(2))
        let other = try await Tool.run(
            "send", folder("other"), "--journal", folder("j"), "--report", report, "--queue-only")
        #expect(other.status == 0 && isOpen, "\(other.errors)")
        let foreign = try await refusal(report)
        #expect(foreign.status == 73 && foreign.errors.contains("is the unfinished report of"), "\(foreign.errors)")
        try folder.write("report.resume", "nonsense")
        let damaged = try await Tool.run(
            "send", folder("other"), "--journal", folder("j"), "--report", report, "--resume")
        #expect(damaged.status == 72 && damaged.errors.contains("can't be gone on with"), "\(damaged.errors)")
        #expect(try mock.taken() == 0)
    }
}
