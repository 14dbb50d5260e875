import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Scratch
import Testing

/// Reading feedback, alone and beside sending, against mocks in processes of their own.
@Suite("feedback read, and --feedback", .serialized, .timeLimit(.minutes(2)))
struct FeedbackCommandTests {
    private let folder: TemporaryFolder
    private let token = String(repeating: "0", count: 63) + "3"

    init() throws { folder = try TemporaryFolder() }

    @Test("Tuples are blacklisted and printed, with shortened tokens unless they are asked for") func reads()
        async throws
    {
        let flags = ["--tuple", "\(token)=1600000000", "--tuple", "abcdef0123=1600000001"]
        let mock = try await MockProcess(flags, kind: "feedback", in: folder)
        let first = try await read(mock)
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output == "2020-09-13T12:26:40Z  0000…0003\n2020-09-13T12:26:41Z  abcd…0123\n")
        #expect(first.errors.contains("2 tuples; all of them are on the blacklist"), "\(first.errors)")
        let status = try await Tool.run("journal", "status", "--journal", folder("j"), "--json")
        #expect(try status.count("blacklist") == 2)
        // Reading has cleared the list.
        let second = try await read(mock, "--json")
        #expect(second.status == 0 && second.output.isEmpty, "\(second.output)")
        _ = try await mock.stop()

        let other = try await MockProcess(flags, kind: "feedback", in: folder)
        let revealed = try await read(other, "--json", "--reveal")
        #expect(
            revealed.output == """
                {"since":"2020-09-13T12:26:40Z","token":"\(token)"}
                {"since":"2020-09-13T12:26:41Z","token":"abcdef0123"}

                """)
    }

    @Test("A tuple without a usable token is printed, and not counted as blacklisted") func noToken() async throws {
        var configuration = MockFeedbackConfiguration()
        configuration.tuples = [[1, 2, 3, 4], []].map { MockFeedbackTuple(time: 1_600_000_000, token: $0) }
        let mock = try await MockFeedbackServer.start(configuration)
        let result = try await Tool.start([
            "feedback", "read", "--endpoint", "feedback+tls://127.0.0.1:\(mock.port)", "--journal", folder("j"),
            "--trust", mock.certificateAuthorityFile,
        ]).result()
        try await mock.stop()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("  (0 bytes)\n"), "\(result.output)")
        #expect(
            result.errors.contains("2 tuples; 1 of them is on the blacklist of \(folder("j")), and 1 without a token"),
            "\(result.errors)")
        #expect(try await Tool.run("journal", "status", "--journal", folder("j"), "--json").count("blacklist") == 1)
    }

    @Test("A connection that breaks is code 69, and what came before is kept") func breaks() async throws {
        let mock = try await MockProcess(
            ["--tuple", "\(token)=1600000000", "--tuple", "abcd=1600000001", "--reset-after", "1"], kind: "feedback",
            in: folder)
        let result = try await read(mock)
        #expect(result.status == 69, "\(result.errors)")
        #expect(result.output == "2020-09-13T12:26:40Z  0000…0003\n")
        #expect(result.errors.contains("1 tuple before"), "\(result.errors)")
        #expect(
            try await Tool.run("journal", "status", "--journal", folder("j"), "--json").count("blacklist") == 1)
    }

    @Test("A signal ends a reading that is held open, and what came before is kept", arguments: [SIGINT, SIGTERM])
    func signals(signal: Int32) async throws {
        let mock = try await MockProcess(
            ["--tuple", "\(token)=1600000000", "--hold"], kind: "feedback", in: folder)
        let tool = try Tool.start([
            "feedback", "read", "--endpoint", "feedback+tls://127.0.0.1:\(mock.port)", "--journal", folder("j"),
            "--trust", mock.trust,
        ])
        #expect(try await waitUntil { try tool.output.hasSuffix("\n") })
        tool.kill(signal)
        let result = try await tool.result()
        #expect(result.status == 75 && result.errors.contains("1 tuple before, which are kept"), "\(result.errors)")
        #expect(
            try await Tool.run("journal", "status", "--journal", folder("j"), "--json").count("blacklist") == 1)
    }

    @Test("Nobody listens: code 69; a wrong endpoint: code 78, and no journal") func nobody() async throws {
        let refused = try await Tool.run(
            "feedback", "read", "--endpoint", "feedback://127.0.0.1:1", "--journal", folder("j"))
        #expect(refused.status == 69 && refused.errors.contains("refused"), "\(refused.errors)")
        let wrong = try await Tool.run(
            "feedback", "read", "--endpoint", "https://127.0.0.1:1", "--journal", folder("other"))
        #expect(wrong.status == 78 && wrong.errors.contains("feedback+tls://"), "\(wrong.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("other")))
    }

    @Test("send reads feedback beside sending, and what it names is not sent to the next time") func beside()
        async throws
    {
        let feedback = try await MockProcess(["--tuple", "\(token)=1600000000"], kind: "feedback", in: folder)
        let mock = try await MockProcess(kind: "binary", in: folder)
        try folder.write("in", (1...10).map(BadInputTests.line).joined())
        let first = try await send(mock, "--feedback", "feedback+tls://127.0.0.1:\(feedback.port)")
        #expect([0, 1, 65].contains(first.status), "\(first.errors)")
        #expect(try first.count("feedback") == 1)
        let second = try await send(mock, "--restart")
        #expect(try second.json()["refused"] as? [String: Int] == ["Blacklisted": 1], "\(second.output)")
        #expect(try second.json()["feedback"] == nil)
    }

    @Test("Feedback that can't be read is said, and keeps nothing from being sent") func unreadable() async throws {
        let mock = try await MockProcess(kind: "binary", in: folder)
        try folder.write("in", (1...10).map(BadInputTests.line).joined())
        let result = try await send(mock, "--feedback", "feedback://127.0.0.1:1", "--feedback-interval", "30m")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.count("confirmed") == 10 && result.count("feedback") == 0)
        #expect(result.errors.contains("feedback: feedback://127.0.0.1:1 can't be reached"), "\(result.errors)")
    }

    private func read(_ mock: MockProcess, _ flags: String...) async throws -> Tool.Result {
        try await Tool.start(
            [
                "feedback", "read", "--endpoint", "feedback+tls://127.0.0.1:\(mock.port)", "--journal", folder("j"),
                "--trust", mock.trust,
            ] + flags
        ).result()
    }

    private func send(_ mock: MockProcess, _ flags: String...) async throws -> Tool.Result {
        try await Tool.start(
            [
                "send", folder("in"), "--journal", folder("j"), "--endpoint", "binary+tls://127.0.0.1:\(mock.port)",
                "--trust", mock.trust, "--json",
            ] + flags
        ).result()
    }
}
