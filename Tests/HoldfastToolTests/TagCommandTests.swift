import Foundation
import Scratch
import Testing

/// `tags`: a campaign is paused and resumed, at rest and in a process that delivers it.
@Suite("Pausing tags", .timeLimit(.minutes(2)))
struct TagCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func tool(_ arguments: String...) async throws -> Tool.Result {
        try await Tool.start(arguments + ["--journal", folder("j")]).result()
    }

    private func recover(_ mock: MockProcess) throws -> RunningTool {
        try Tool.start([
            "recover", "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust, "--json",
        ])
    }

    /// Every second one of 200 is of the campaign.
    private func queue(_ mock: MockProcess) async throws {
        let lines = (1...200).map { number in
            #"{"token":"\#(OperatorWorld.token(number))","apns-topic":"a","payload":{"n":\#(number)},"#
                + #""tag":"\#(number.isMultiple(of: 2) ? "spring sale" : "other")"}"#
        }
        try folder.write("in", lines.joined(separator: "\n"))
        let queued = try await Tool.run(
            "send", folder("in"), "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust,
            "--queue-only")
        #expect(queued.status == 0, "\(queued.errors)")
    }

    @Test("An argument that is not UTF-8 is refused, and pauses no other tag")
    func encoding() async throws {
        let script = "exec \"$0\" tags pause \"$(printf 'sale\\377\\376')\" --journal \"$1\""
        let refused = try await RunningTool(["-c", script, Tool.path, folder("j")], program: "/bin/sh").result()
        #expect(refused.status == 64, "\(refused)")
        #expect(refused.errors.contains("Argument 3, `sale\u{FFFD}\u{FFFD}`, is not UTF-8"), "\(refused.errors)")
        #expect(refused.errors.contains("--tag-base64"), "\(refused.errors)")
        let none = try await tool("tags", "pause", "--tag-base64", "sale!")
        #expect(none.status == 64 && none.errors.contains("is not base64"), "\(none)")
    }

    @Test("A tag of bytes that are no text is paused in base64, and the command that status prints resumes it")
    func bytes() async throws {
        let mock = try await MockProcess(in: folder)
        try await queue(mock)
        let paused = try await tool("tags", "pause", "--tag-base64", "c2FsZf8=", "sale", "--json")
        #expect(paused.status == 0 && paused.output.contains(#""tag-base64":"c2FsZf8=""#), "\(paused)")
        let status = try await Tool.run("status", "--journal", folder("j"), "--json")
        let command = "holdfast tags resume --tag-base64 c2FsZf8="
        #expect(status.output.replacing("\\/", with: "/").contains(command), "\(status)")
        let script = "holdfast() { \"$TOOL\" \"$@\" --journal \"$JOURNAL\"; }; \(command)"
        let resumed = try await RunningTool(
            ["-c", "TOOL='\(Tool.path)' JOURNAL='\(folder("j"))'; \(script)"], program: "/bin/bash"
        ).result()
        #expect(resumed.status == 0, "\(resumed)")
        let left = try await tool("tags", "list", "--json")
        #expect(left.output.contains(#""tag":"sale""#) && !left.output.contains("base64"), "\(left)")
    }

    @Test("Paused in a process that is killed: the rest goes, the campaign waits, is explained, dropped, and resumed")
    func paused() async throws {
        let mock = try await MockProcess(in: folder)
        try await queue(mock)
        #expect(try await tool("lanes", "pause", "--all").status == 0)
        let killed = try recover(mock)
        #expect(try await waitUntil { try killed.errors.contains("paused by an operator") })
        let pause = try await tool("tags", "pause", "spring sale", "--reason", "wrong price", "--json")
        #expect(
            pause.output == #"{"reason":"wrong price","state":"paused","tag":"spring sale"}"# + "\n", "\(pause.errors)")
        killed.kill(SIGKILL)
        _ = try await killed.result()

        #expect(try await tool("lanes", "resume", "--all").status == 0)
        let first = try await recover(mock).result()
        #expect(
            first.status == 75 && first.errors.contains(#"tag "spring sale" is paused: wrong price"#), "\(first.errors)"
        )
        // It is said at the beginning as well, and by a dry run.
        #expect(first.errors.contains("what waits for a paused tag stays in the journal"), "\(first.errors)")
        let dry = try await tool("recover", "--dry-run")
        #expect(dry.output.contains("would deliver 0 notifications"), "\(dry.output)")
        #expect(dry.output.contains("spring sale: left, until `holdfast tags resume`"), "\(dry.output)")
        #expect(try mock.taken() == 100)
        let list = try await tool("tags", "list", "--json")
        #expect(
            list.output.contains(#""held":100"#) && list.output.contains(#""reason":"wrong price""#), "\(list.output)")
        #expect(try await tool("tags", "list").output.contains("spring sale"))
        let status = try await tool("journal", "status")
        #expect(
            status.output.contains("PAUSED TAG") && status.output.contains("100 held by paused tags"),
            "\(status.output)")
        // Line breaks do not count.
        let show = try await tool("journal", "show", "2").output.split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        #expect(show.contains("It is held since"), "\(show)")
        #expect(show.contains(#"because tag "spring sale" is paused: wrong price."#), "\(show)")
        #expect(show.contains("holdfast tags resume 'spring sale'"), "\(show)")
        let dropped = try await tool("journal", "drop", "--uids", "2", "--tag", "spring sale", "--yes")
        #expect(dropped.status == 0, "\(dropped.errors)")

        let resumed = try await tool("tags", "resume", "spring sale")
        #expect(resumed.output == "spring sale: running\n", "\(resumed.errors)")
        let last = try await recover(mock).result()
        #expect(last.status == 0, "\(last.errors)")
        #expect(try mock.taken() == 199)
        #expect(try await tool("journal", "verify").status == 0)
    }

    @Test("What can't be done says why, and an export goes without the place of the pause") func others() async throws {
        let mock = try await MockProcess(in: folder)
        try await queue(mock)
        let unknown = try await tool("tags", "resume", "spring")
        #expect(unknown.status == 66 && unknown.errors.contains(#"tag "spring" is not paused"#), "\(unknown.errors)")
        #expect(try await tool("tags", "pause", "").status == 64)
        #expect(try await tool("tags", "resume").status == 64)
        #expect(try await tool("tags", "pause", "spring sale", "other").status == 0)
        let held = try await recover(mock).result()
        #expect(held.status == 75)
        let exported = try await tool("journal", "export", "-o", folder("lines"))
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try folder.read("lines").contains(#""state":"waiting""#))
        #expect(try await tool("tags", "resume", "--all").output == "all tags: running\n")
        let done = try await recover(mock).result()
        #expect(done.status == 0, "\(done.errors)")
        #expect(try mock.taken() == 200)
    }
}
