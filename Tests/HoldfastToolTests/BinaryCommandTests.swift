import Foundation
import Scratch
import Testing

/// Sending over the binary protocol, against the mock in a process of its own.
@Suite("send and recover over the binary protocol", .serialized, .timeLimit(.minutes(5)))
struct BinaryCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("With one bad token in a thousand the others arrive once each, and barriers prove it", arguments: [1, 4])
    func sends(connections: Int) async throws {
        let mock = try await mock("--reject", "\(token(500))=8")
        try write(1000)
        let result = try await send(mock, "--connections", "\(connections)", "--json")
        #expect(result.status == 1, "\(result.errors)")
        #expect(try result.count("confirmed") == 999 && result.count("left") == 0, "\(result.output)")
        #expect(try result.json()["rejected"] as? [String: Int] == ["InvalidToken": 1], "\(result.output)")
        #expect(try result.count("confirmedByQuiet") == 0 && result.count("wronglyConfirmed") == 0)
        #expect(try result.count("confirmedByAnswer") + result.count("confirmedByBarrier") == 999)
        #expect(try result.count("confirmedByBarrier") > 0)
        let audit = try await audit()
        #expect(try audit.count("accepted") == 999 && audit.count("duplicates") == 0, "\(audit.output)")
        // The bad token is known from now on.
        let again = try await send(mock, "--restart", "--json")
        #expect(try again.json()["refused"] as? [String: Int] == ["Blacklisted": 1], "\(again.output)")
    }

    @Test("With --confirm quiet silence clears the journal, and send says when") func quiet() async throws {
        let mock = try await mock()
        try write(300)
        let result = try await send(mock, "--confirm", "quiet", "--quiet-period", "300ms", "--json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.count("confirmed") == 300 && result.count("confirmedByQuiet") == 300, "\(result.output)")
        #expect(
            result.errors.contains("by 300 ms of silence; the journal is clear"), "\(result.errors)")
        #expect(try await audit().status == 0)
    }

    @Test("Of what a late error denies nothing is lost, whatever confirmed it", arguments: ["quiet", "barrier"])
    func lateError(confirm: String) async throws {
        let mock = try await mock("--reject", "\(token(3))=8", "--error-delay", "1500")
        // A pipe: it is sent from for as long as somebody writes to it.
        let pipeMaker = try RunningTool(["mkfifo", folder("in")], program: "/usr/bin/env")
        #expect(try await pipeMaker.result().status == 0)
        let tool = try Tool.start(
            arguments(mock) + ["--json", "--confirm", confirm]
                + (confirm == "quiet" ? ["--quiet-period", "200ms"] : []))
        let pipe = try FileHandle(forWritingTo: folder.url("in"))
        try pipe.write(contentsOf: Data((1...10).map(BadInputTests.line).joined().utf8))
        if confirm == "quiet" {
            #expect(try await waitUntil { try tool.errors.contains("the journal is clear") })
            #expect(try await waitUntil { try tool.errors.contains("8 notifications that silence had confirmed") })
        }
        try pipe.close()
        let result = try await tool.result()
        #expect(result.status == 1, "\(result.errors)")
        if confirm == "quiet" {
            #expect(result.errors.contains("all of them go again"), "\(result.errors)")
            #expect(try result.count("confirmedByQuiet") == 9, "\(result.output)")
        }
        #expect(try result.count("confirmed") == 9 && result.count("wronglyConfirmed") == 0, "\(result.output)")
        #expect(try result.json()["rejected"] as? [String: Int] == ["InvalidToken": 1])
        _ = try await mock.stop()
        try write(10)
        #expect(try await audit().count("accepted") == 9)
    }

    @Test("The journal remembers the protocol's settings, so that recover needs no flags") func remembers() async throws
    {
        let mock = try await mock("--client-certificate")
        try write(50)
        let queued = try await send(
            mock, "--queue-only", "--confirm", "quiet", "--quiet-period", "250ms", "--connections", "2",
            "--client-certificate", folder("certs/client.pem"), "--client-key", folder("certs/client.key"))
        #expect(queued.status == 0, "\(queued.errors)")
        let recovered = try await Tool.run("recover", "--journal", folder("j"), "--json")
        #expect(recovered.status == 0, "\(recovered.errors)")
        #expect(try recovered.count("confirmedByQuiet") == 50, "\(recovered.output)")
        #expect(recovered.errors.contains("by 250 ms of silence"), "\(recovered.errors)")

        // Another choice is remembered in its place.
        let changed = try await Tool.run("recover", "--journal", folder("j"), "--confirm", "barrier")
        #expect(changed.status == 0, "\(changed.errors)")
        let refused = try await Tool.run("recover", "--journal", folder("j"), "--quiet-period", "1s")
        #expect(refused.status == 64 && refused.errors.contains("--confirm quiet"), "\(refused.errors)")
    }

    @Test(
        "kill -9 in the middle of a send, recover, resume: nothing accepted is lost, duplicates are at most the window",
        arguments: [(1, 1), (700, 1), (4000, 2), (9000, 4)])
    func kills(moment: Int, connections: Int) async throws {
        let mock = try await mock("--reject", "\(token(5000))=8")
        try write(12_000)
        let window = 1000
        let tool = try Tool.start(
            arguments(mock) + ["--window", "\(window)", "--connections", "\(connections)"])
        #expect(try await waitUntil { try mock.taken() >= moment || !tool.isRunning })
        tool.kill(SIGKILL)
        _ = try await tool.result()

        let recovered = try await Tool.run("recover", "--journal", folder("j"), "--json")
        #expect([0, 1].contains(recovered.status), "\(recovered.errors)")
        let status = try await Tool.run("journal", "status", "--journal", folder("j"), "--json")
        #expect(try status.count("unconfirmed") == 0)
        let rest = try await send(mock, "--resume", "--json")
        #expect([0, 1].contains(rest.status), "\(rest.errors)")
        // Killed between the blacklisting and the settlement, it may have been sent and is not sent again: unknown.
        let end = try await Tool.run("journal", "status", "--journal", folder("j"), "--json")
        let totals = try #require(try end.json()["totals"] as? [String: Any])
        let unknown = try #require(totals["unknown"] as? Int)
        #expect(try end.count("rejections") + unknown == 1, "\(end.output)")
        let audit = try await audit()
        #expect(try audit.count("lost") == 1 && audit.count("unexpected") == 0, "\(audit.output)")
        #expect(try audit.count("duplicates") <= window * connections, "\(audit.output)")
    }

    @Test(
        "Flags of the other protocol are refused, with the reason",
        arguments: [
            (["--endpoint", "binary+tls://h", "--key", "k.p8"], "--key is for HTTP/2"),
            (["--endpoint", "binary+tls://h", "--team-id", "T"], "--team-id is for HTTP/2"),
            (["--endpoint", "https://h", "--confirm", "quiet"], "--confirm is for the binary protocol"),
            (["--endpoint", "https://h", "--quiet-period", "5s"], "--quiet-period is for the binary protocol"),
            (
                [
                    "--endpoint", "https://h", "--client-certificate", "c", "--key", "k", "--key-id", "K", "--team-id",
                    "T",
                ],
                "--key and --client-certificate exclude each other"
            ),
            (["--endpoint", "binary+tls://h", "--quiet-period", "5s"], "--quiet-period needs --confirm quiet"),
            (["--endpoint", "binary+tls://h", "--client-key", "k"], "need --client-certificate"),
            (
                ["--endpoint", "binary+tls://h", "--client-certificate", "c.p12", "--client-key", "k"],
                "a .p12 file holds its key"
            ),
            (["--endpoint", "binary+tls://h", "--connections", "0"], "--connections must be"),
            (["--endpoint", "binary+tls://h", "--feedback-interval", "1h"], "--feedback-interval needs --feedback"),
        ])
    func refusesForeignFlags(flags: [String], message: String) async throws {
        try write(1)
        let result = try await Tool.start(["send", folder("in"), "--journal", folder("j")] + flags).result()
        #expect(result.status == 64, "\(result.errors)")
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("j")))
    }

    @Test("A certificate that can't be used is named, and nothing is journaled") func badCertificate() async throws {
        try write(1)
        for (flags, message) in [
            (["--client-certificate", folder("none.pem")], "none.pem can't be read"),
            (["--client-certificate", folder("in")], "is not PEM"),
            (["--client-certificate", folder("in"), "--client-passphrase-file", folder("none")], "none can't be read"),
        ] {
            let result = try await Tool.start(
                ["send", folder("in"), "--journal", folder("j"), "--endpoint", "binary+tls://h"] + flags
            ).result()
            #expect(result.status == 78 && result.errors.contains(message), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder("j")))
        }
    }

    // MARK: Support

    private func token(_ number: Int) -> String {
        String(repeating: "0", count: 64 - String(number).count) + String(number)
    }

    private func write(_ count: Int) throws {
        try? FileManager.default.removeItem(at: folder.url("in"))
        try folder.write("in", (1...count).map(BadInputTests.line).joined())
    }

    private func mock(_ flags: String...) async throws -> MockProcess {
        try await MockProcess(flags, kind: "binary", in: folder)
    }

    private func arguments(_ mock: MockProcess) -> [String] {
        [
            "send", folder("in"), "--journal", folder("j"), "--endpoint", "binary+tls://127.0.0.1:\(mock.port)",
            "--trust", mock.trust,
        ]
    }

    private func send(_ mock: MockProcess, _ flags: String...) async throws -> Tool.Result {
        try await Tool.start(arguments(mock) + flags).result()
    }

    private func audit() async throws -> Tool.Result {
        try await Tool.run("mock", "audit", folder("ledger"), "--input", folder("in"), "--json")
    }
}
