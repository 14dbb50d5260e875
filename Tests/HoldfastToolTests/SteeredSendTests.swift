import Foundation
import Scratch
import Testing

/// `send` and `recover` as processes that an operator steers.
@Suite("Steering send and recover", .serialized)
struct SteeredSendTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var socket: String { folder("j/control.sock") }
    private var isServed: Bool { FileManager.default.fileExists(atPath: socket) }

    private func write(_ count: Int) throws {
        let lines = (1...count).map { number in
            #"{"token":"\#(OperatorWorld.token(number))","apns-topic":"a","payload":{"n":\#(number)}}"#
        }
        try folder.write("in", lines.joined(separator: "\n"))
    }

    private func start(_ command: String..., at mock: MockProcess) throws -> RunningTool {
        try Tool.start(
            command + ["--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust, "--json"])
    }

    @Test("A run waits for what is paused, and ends when it is resumed and done; its socket goes with it")
    func pausedRun() async throws {
        let mock = try await MockProcess(in: folder)
        try write(50)
        let queued = try await start("send", folder("in"), "--queue-only", at: mock).result()
        #expect(queued.status == 0, "\(queued.errors)")
        #expect(try await tool("lanes", "pause", "--all").status == 0)
        let recover = try start("recover", at: mock)
        #expect(try await waitUntil { try recover.errors.contains("paused by an operator") })
        #expect(await waitUntil { isServed })
        #expect(recover.isRunning)
        #expect(try mock.taken() == 0)
        #expect(try await tool("lanes", "resume", "--all").status == 0)
        let result = try await recover.result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.count("confirmed") == 50)
        #expect(!isServed)
    }

    @Test("A run that is killed leaves its socket; the next owner replaces it, and ends in order")
    func killed() async throws {
        let mock = try await MockProcess(in: folder)
        try write(50)
        _ = try await start("send", folder("in"), "--queue-only", at: mock).result()
        #expect(try await tool("lanes", "pause", "--all").status == 0)
        let first = try start("recover", at: mock)
        #expect(await waitUntil { isServed })
        first.kill(SIGKILL)
        _ = try await first.result()
        #expect(isServed)
        // At rest again, in spite of the socket.
        let atRest = try await tool("lanes", "pause", "--all", "--reason", "still")
        #expect(atRest.status == 0, "\(atRest.errors)")
        let second = try start("recover", at: mock)
        #expect(try await waitUntil { try second.errors.contains("paused by an operator") })
        let listed = try await tool("lanes", "list", "--json")
        #expect(listed.output.contains(#""isServed":true"#), "\(listed.output) \(listed.errors)")
        second.kill(SIGTERM)
        #expect(try await second.result().status == 75)
        #expect(!isServed)
    }

    @Test("--give-up-after bounds how long a pause is waited for")
    func givesUp() async throws {
        let mock = try await MockProcess(in: folder)
        try write(5)
        _ = try await start("send", folder("in"), "--queue-only", at: mock).result()
        #expect(try await tool("lanes", "pause", "--all").status == 0)
        let result = try await start("recover", "--give-up-after", "1s", at: mock).result()
        #expect(result.status == 75 && result.errors.contains("paused by an operator"), "\(result.errors)")
    }

    private func tool(_ arguments: String...) async throws -> Tool.Result {
        try await Tool.start(arguments + ["--journal", folder("j")]).result()
    }
}
