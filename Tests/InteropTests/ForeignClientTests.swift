import Foundation
import HoldfastHTTP2
import Testing

/// Our server role against clients that we did not write.
@Suite("The server against foreign clients", .serialized, .timeLimit(.minutes(3)))
struct ForeignClientTests {
    /// Runs a client to its end.
    private static func run(
        _ program: String, package: String, body: [UInt8], limits: HTTP2Limits = .server,
        _ arguments: (_ bodyFile: String, _ port: Int) -> [String]
    ) async throws -> (status: Int32, output: String) {
        let path = try Foreign.find(program, package: package)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = try folder.file("body", Data(body))
        return try await ServerDriver.serve(limits: limits) { port in
            try await Child(path, arguments(file.path, port), in: folder).finish()
        }
    }

    // The three are skipped where the program is not installed, unless HOLDFAST_REQUIRE_FOREIGN=1.
    @Test(
        "h2load gets every answer",
        .enabled(if: Foreign.shouldTest("h2load"), "Debian package nghttp2-client is not installed"),
        arguments: [
            ["-m", "100"], ["-m", "1000"], ["-m", "10", "-w", "1", "-W", "16"], ["-m", "100", "--header-table-size=0"],
        ])
    func h2load(options: [String]) async throws {
        let body = [UInt8](repeating: 0x61, count: 200)
        let (status, output) = try await Self.run("h2load", package: "nghttp2-client", body: body) { file, port in
            ["-n", "20000", "-c", "2", "-d", file] + options + ["http://127.0.0.1:\(port)/"]
        }
        #expect(status == 0)
        #expect(output.contains("20000 succeeded, 0 failed, 0 errored"), "\(output)")
        #expect(output.contains("status codes: 20000 2xx"), "\(output)")
    }

    @Test(
        "nghttp reads our frames and header fields",
        .enabled(if: Foreign.shouldTest("nghttp"), "Debian package nghttp2-client is not installed"))
    func nghttp() async throws {
        let (status, output) = try await Self.run("nghttp", package: "nghttp2-client", body: Array("hello".utf8)) {
            file, port in
            ["-v", "-d", file, "http://127.0.0.1:\(port)/echo"]
        }
        #expect(status == 0)
        #expect(output.contains(":status: 200") && output.contains("content-length: 5"), "\(output)")
        #expect(output.contains("hello") && !output.contains("RST_STREAM") && output.contains("NO_ERROR"), "\(output)")
    }

    @Test(
        "curl sends and gets back a body larger than every window",
        .enabled(if: Foreign.shouldTest("curl"), "Debian package curl is not installed"))
    func curl() async throws {
        var limits = HTTP2Limits.server
        limits.maxBodySize = 1 << 20
        limits.streamReceiveWindow = 20_000
        limits.connectionReceiveWindow = 65_535
        let text = (0..<50_000).map { "\($0)\n" }.joined()
        let (status, output) = try await Self.run("curl", package: "curl", body: Array(text.utf8), limits: limits) {
            file, port in
            [
                "-sS", "--http2-prior-knowledge", "--max-time", "30", "-H", "Expect:", "--data-binary", "@\(file)",
                "-w",
                "%{http_code} HTTP/%{http_version}", "http://127.0.0.1:\(port)/echo",
            ]
        }
        #expect(status == 0)
        #expect(output == text + "200 HTTP/2", "\(output.suffix(200))")
    }

    @Test(
        "curl is told 413 when its body is too long, while it is still sending",
        .enabled(if: Foreign.shouldTest("curl"), "Debian package curl is not installed"))
    func tooLong() async throws {
        // Told so, curl 7.88 stops sending but waits for its own time limit, whether the stream is reset or not.
        let body = [UInt8](repeating: 0x61, count: 300_000)
        let (_, output) = try await Self.run("curl", package: "curl", body: body) { file, port in
            [
                "-sS", "--http2-prior-knowledge", "--max-time", "5", "-H", "Expect:", "--data-binary", "@\(file)", "-w",
                "%{http_code}", "http://127.0.0.1:\(port)/",
            ]
        }
        #expect(output.hasSuffix("413"), "\(output)")
    }
}
