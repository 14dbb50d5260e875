import Foundation
import Holdfast
import HoldfastControl
import HoldfastJournal
import HoldfastService
import HoldfastTransport
import Logging
import NIOCore
import Scratch
import Testing

@testable import HoldfastTool

@Suite("At a terminal")
struct TerminalTests {
    @Test(
        "A word that is no command suggests the one that was meant, at each level",
        arguments: [
            (["sned"], "Did you mean `holdfast send`?"), (["lanes", "puase"], "Did you mean `holdfast lanes pause`?"),
            (["help", "recvoer"], "Did you mean `holdfast recover`?"),
            (["demo", "gatway"], "Did you mean `holdfast demo gateway`?"),
            (["mock", "xyzzy"], "`holdfast mock` has: http2, binary, feedback, fcm, audit."),
        ])
    func hints(arguments: [String], words: String) async throws {
        let hint = try #require(CommandHint(arguments, below: HoldfastCommand.self))
        #expect("\(hint.error)".contains(words), "\(hint.error)")
        guard arguments.first != "help" else { return }
        let result = try await Tool.start(arguments).result()
        #expect(result.status == 64 && result.errors.contains(words), "\(result.errors)")
    }

    @Test("Words that are commands, and their arguments, suggest nothing")
    func noHints() {
        for arguments in [[], ["send", "sned"], ["lanes", "pause", "puase"], ["--jsn"], ["help", "lanes"], ["help"]] {
            #expect(CommandHint(arguments, below: HoldfastCommand.self) == nil, "\(arguments)")
        }
    }

    @Test("A value that begins with a dash is asked for behind `--`, whatever flags its letters are")
    func dashed() async throws {
        for arguments in [["tags", "pause", "-dash"], ["tags", "pause", "-sale"], ["tags", "resume", "-hello"]] {
            let result = try await Tool.start(arguments + ["--journal", "none"]).result()
            let words = "Unknown option `\(arguments[2])`. A value that begins with `-` goes behind `--`"
            #expect(result.status == 64 && result.errors.contains(words), "\(result.output)\(result.errors)")
        }
        let folder = try TemporaryFolder()
        try LMDBJournal(directory: folder("j")).close()
        let paused = try await Tool.run("tags", "pause", "--journal", folder("j"), "--reason=-x", "--", "-dash")
        #expect(paused.status == 0 && paused.output == "-dash: paused\n", "\(paused.errors)")
        #expect(try await Tool.run("tags", "pause", "-h").status == 0)
        for arguments in [
            ["tags", "pause", "-h"], ["lanes", "--", "-dash"], ["x", "-vh"], ["serve", "--hx"], ["-"], [],
        ] {
            #expect(DashedWordHint(arguments) == nil, "\(arguments)")
        }
    }

    @Test("A long cell makes its own line longer, and not those of the others")
    func columns() {
        let long = String(repeating: "x", count: 9)
        #expect(
            Columns.text([["A", "B"], ["a", "1"], [long, "2"], ["abcd", "3"]], widest: 8) == """
                A     B
                a     1
                \(long)  2
                abcd  3
                """)
    }

    @Test("A control socket in a directory that is not there says so in words")
    func socket() async throws {
        let folder = try TemporaryFolder()
        let journal = try LMDBJournal(directory: folder("j"))
        defer { journal.close() }
        let socket = ControlSocket(
            desk: JournalDesk(journal: journal), journal: folder("none"), logger: Logger(label: "test"))
        let error = await #expect(throws: ControlError.self) { try await socket.run() }
        #expect(error?.message.hasSuffix(": No such file or directory") == true, "\(error?.message ?? "")")
    }

    @Test("Durations have at most three digits")
    func durations() {
        for (milliseconds, words) in [
            (0, "0 ms"), (420, "420 ms"), (1250, "1.25 s"), (42_000, "42 s"), (133_000, "2.22 min"),
            (3_723_000, "62.1 min"),
            (90_061_000, "25 h"), (864_000_000, "10 days"),
        ] {
            let text = Format.duration(.milliseconds(milliseconds))
            #expect(text == words)
            #expect(text.filter(\.isNumber).count <= 3)
        }
    }

    @Test("Errors of the system are words")
    func failures() {
        let error = IOError(errnoCode: ENOENT, reason: "bind(descriptor:ptr:bytes:)")
        #expect(FileFailure.text(error) == "No such file or directory")
        #expect(ToolError(error, otherwise: .unavailable).message == "No such file or directory")
        #expect(FileFailure.text(ToolError(.usage, "as it is")) == "as it is")
    }

    @Test("A lane that is not there is named, with those that are, and a command goes on with none of its entries")
    func lanes() async throws {
        let world = try OperatorWorld()
        try await world.fill()
        for arguments in [
            ["journal", "list"], ["journal", "export"], ["journal", "drop", "--yes"], ["rejections", "list"],
            ["rejections", "discard", "--yes"],
        ] {
            let result = try await Tool.start(arguments + ["--lane", "foo", "--journal", world.journal]).result()
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            #expect(
                result.errors.contains("has no lane \"foo\": it has default/immediate/at-least-once"),
                "\(arguments): \(result.errors)")
            let known = try await Tool.start(
                [arguments[0], "list", "--lane", "default/considerate", "--journal", world.journal]
            ).result()
            #expect(!known.errors.contains("has no lane"), "\(known.errors)")
        }
    }

    @Test("Nothing is a terminal where nobody sits, and COLUMNS says nothing there")
    func width() throws {
        #expect(TerminalSize.columns(of: -1, environment: ["COLUMNS": "40"]) == nil)
        #expect(TerminalSize.paragraph >= 40 && TerminalSize.statusLine >= 20)
    }

    @Test("An empty --journal is told, and not taken for none")
    func emptyJournal() async throws {
        let result = try await Tool.run("journal", "status", "--journal", "")
        #expect(result.status == 64 && result.errors.contains("--journal is empty"), "\(result.errors)")
    }
}
