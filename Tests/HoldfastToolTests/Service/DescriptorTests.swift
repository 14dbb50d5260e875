import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastTool

/// `holdfast serve` in a process that may open few files.
@Suite("A service without descriptors", .timeLimit(.minutes(1)))
struct DescriptorTests {
    /// Of the processor, so far: proc(5).
    private static func seconds(_ process: Int32) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        return (try #require(Double(fields[11])) + #require(Double(fields[12]))) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    @Test("More clients than it has descriptors for cost it no core, and it serves again when some have gone")
    func exhausted() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "c.yaml",
            """
            journal: {path: push.journal}
            routes: [{endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        let tool = try RunningTool(
            ["-c", "ulimit -n 60; exec \"$0\" \"$@\"", Tool.path, "serve", "--config", folder("c.yaml")],
            program: "/bin/sh")
        let words = "serving http2 on 127.0.0.1:"
        #expect(try await waitUntil { try tool.errors.contains(words) })
        let line = try #require(try tool.errors.split(separator: "\n").first { $0.contains(words) })
        let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })

        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        var clients: [any Channel] = []
        for _ in 0..<80 { clients.append(try await bootstrap.connect(host: "127.0.0.1", port: port).get()) }
        let open = { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(tool.processIdentifier)/fd").count }
        #expect(try await waitUntil { try open() >= 60 })
        let before = try Self.seconds(tool.processIdentifier)
        try await Task.sleep(for: .seconds(1))
        #expect(try Self.seconds(tool.processIdentifier) - before < 0.2)

        for client in clients { try await client.close() }
        #expect(try await waitUntil { try open() < 40 })
        let late = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
        try await late.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n")).get()
        // Told what it should have spoken, and closed.
        try await late.closeFuture.get()
        tool.kill(SIGTERM)
        #expect(try await tool.result().status == 0)
    }
}
