import Foundation
import HoldfastTesting
import RawClients
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// How the HTTP/2 listener gets rid of clients that take nothing, and how TCP finds those that are gone.
@Suite("Clients that take nothing, and clients that are gone", .timeLimit(.minutes(1)))
struct ClientWatchTests {
    /// Each is refused at once, with a body.
    private static let requests = (0..<400).flatMap { RawHTTP2.headers(streamID: UInt32(2 * $0 + 1), endStream: true) }

    @Test("A client that keeps its window shut is closed at the write limit, however often it pings")
    func shutWindow() async throws {
        try await withHTTP2World(Change { $0.limits.write = .milliseconds(300) }) { world in
            let client = try await RawClient(port: world.port)
            // SETTINGS_INITIAL_WINDOW_SIZE 0.
            let settings = RawHTTP2.frame(type: 4, flags: 0, streamID: 0, [0, 4, 0, 0, 0, 0])
            try await client.send(RawHTTP2.preface + settings + Self.requests)
            try await eventually("it is closed") {
                client.offer(RawHTTP2.ping)
                return world.figures.faults["write"] == 1
            }
            #expect(client.heard.count { $0.type == 1 } == 400)
            #expect(!client.heard.contains { $0.type == 0 })
        }
    }

    @Test("A client that opens its window now and then has its answers, however long that takes")
    func narrowWindow() async throws {
        try await withHTTP2World(Change { $0.limits.write = .seconds(2) }) { world in
            let client = try await RawClient(port: world.port)
            let settings = RawHTTP2.frame(type: 4, flags: 0, streamID: 0, [0, 4, 0, 0, 0, 0])
            try await client.send(
                RawHTTP2.preface + settings + RawHTTP2.headers(streamID: 1, endStream: true))
            try await eventually("the body is held") { client.heard.contains { $0.type == 1 } }
            for _ in 0..<6 {
                try await Task.sleep(for: .milliseconds(500))
                client.offer(RawHTTP2.frame(type: 8, flags: 0, streamID: 1, [0, 0, 0, 1]))
            }
            try await eventually("each byte came") { client.heard.count { $0.type == 0 } == 6 }
            #expect(world.figures.faults.isEmpty && !client.hasEnded)
            await client.close()
        }
    }

    @Test("A client that reads nothing is closed although our kernel has all its answers, however often it pings")
    func shutSocket() async throws {
        try await withHTTP2World(Change { $0.limits.write = .milliseconds(300) }) { world in
            let client = try await RawClient(port: world.port, reads: false)
            try await client.send(RawHTTP2.preface + Self.requests)
            try await eventually("it is closed") {
                client.offer(RawHTTP2.ping)
                return world.figures.faults["write"] == 1
            }
        }
    }

    /// The kernel's table. Its file has no size, and comes in pieces: what reads it at once has a part of it.
    private static func connections() throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/tcp"))
        defer { try? file.close() }
        var table = Data()
        while let piece = try file.read(upToCount: 65536), !piece.isEmpty { table += piece }
        return String(decoding: table, as: UTF8.self)
    }

    @Test("TCP asks a silent client after a minute whether it is there")
    func keepalive() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            let port = ":" + String(format: "%04X", world.port)
            var timer: (kind: Substring, ticks: Int?)?
            // While something is not acknowledged, another timer runs.
            try await eventually("the keepalive timer runs") {
                for line in try Self.connections().split(separator: "\n") {
                    // number, local address, remote address, state (1 is established), queues, timer, …
                    let fields = line.split(separator: " ")
                    guard fields.count > 5, fields[1].hasSuffix(port), fields[3] == "01" else { continue }
                    let parts = fields[5].split(separator: ":")
                    timer = (parts[0], Int(parts[1], radix: 16))
                }
                return timer?.kind == "02"
            }
            let seconds = try #require(timer?.ticks) / sysconf(Int32(_SC_CLK_TCK))
            #expect((1...60).contains(seconds))
        }
    }
}
