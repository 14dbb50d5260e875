import Foundation
import Holdfast
import NIOCore
import NIOPosix
import Scratch
import Testing

/// `holdfast serve` in a process of its own, between `holdfast send` and a mock push service.
final class ServiceWorld: Sendable {
    static let topic = "com.example.app"

    let folder: TemporaryFolder
    let mock: MockProcess
    private let service = Monitor<RunningTool?>(nil)

    init(mockFlags: [String] = []) async throws {
        folder = try TemporaryFolder()
        mock = try await MockProcess(mockFlags, in: folder)
        let made = try await Tool.run("gateway", "certificate", "--directory", folder("tls"))
        try #require(made.status == 0, "\(made.errors)")
        try writeConfiguration()
    }

    /// The example of the guide, with ports that the system chooses.
    ///
    /// - Parameters:
    ///   - journal: more of the journal.
    ///   - route: more of the route, and routes behind it.
    ///   - admin: more of the admin listener.
    ///   - more: lines behind it all.
    func writeConfiguration(journal: String = "", route: String = "", admin: String = "", more: String = "") throws {
        try folder.write(
            "holdfast.yaml",
            """
            journal: {path: push.journal\(journal)}
            routes:
              - name: example
                topics: [\(Self.topic)]
                endpoint: \(mock.endpoint)
                trust: certs/ca.pem
                signing-key: {file: certs/AuthKey.p8, key-id: MOCKKEYID1, team-id: MOCKTEAMID}
            \(route)
            gateway:
              http2: {listen: "127.0.0.1:0", certificate: tls/server.pem, key: tls/server.key}
            admin: {listen: "127.0.0.1:0"\(admin)}
            \(more)
            """)
    }

    /// Starts it, and waits until it serves.
    @discardableResult
    func serve(environment: [String: String] = [:]) async throws -> RunningTool {
        let tool = try Tool.start(
            ["serve", "--config", folder("holdfast.yaml"), "--json"], environment: environment)
        service.withLock { $0 = tool }
        let serves = try await waitUntil {
            try !tool.isRunning || (port("serving http2 on ") != nil && port("health and metrics on ") != nil)
        }
        let log = try tool.errors
        try #require(serves && tool.isRunning, "\(log)")
        return tool
    }

    /// What the running service has logged.
    var log: String { get throws { try service.withLock { $0 }?.errors ?? "" } }

    func port(_ words: String) throws -> Int? {
        let lines = try log.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard let line = lines.last(where: { $0.contains(words) }), let place = line.range(of: words) else {
            return nil
        }
        // In a log of JSON the message ends with a quote.
        let address = line[place.upperBound...].prefix { $0 != "\"" }
        return address.split(separator: ":").last.flatMap { Int($0) }
    }

    /// What `GET` of the admin address answers.
    func get(_ path: String, fields: String = "") async throws -> (status: Int, text: String) {
        let answer = try await ask(path, fields: fields)
        let head = try #require(answer.range(of: "\r\n\r\n"))
        return (Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0, String(answer[head.upperBound...]))
    }

    /// The same with its head, and as far as it came.
    ///
    /// - Parameter fields: more of the request's head, each with its end of line.
    func ask(_ path: String, fields: String = "") async throws -> String {
        try await Self.ask(try #require(try port("health and metrics on ")), path, fields: fields)
    }

    /// The same of any server on this machine.
    ///
    /// - Parameter version: of HTTP; before 1.1 no answer comes in chunks.
    static func ask(_ port: Int, _ path: String, version: String = "1.1", fields: String = "") async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(
                ByteBuffer(
                    string: "GET \(path) HTTP/\(version)\r\nhost: 127.0.0.1\r\nconnection: close\r\n\(fields)\r\n"))
            var answer = ""
            for try await part in inbound { answer += String(buffer: part) }
            return answer
        }
    }

    /// A sender that hands so many over, each with an apns-id of its own.
    func send(_ count: Int, journal: String, topic: String = ServiceWorld.topic) throws -> RunningTool {
        let lines = (0..<count).map { number in
            let token = String(repeating: "0", count: 56) + String(UInt32(number) + 0x1000_0000, radix: 16)
            return
                #"{"token":"\#(token)","apns-topic":"\#(topic)","apns-id":"\#(UUID().uuidString)","payload":{"aps":{"alert":"\#(number)"}}}"#
        }
        try folder.write("\(journal).ndjson", lines.joined(separator: "\n"))
        let port = try #require(try port("serving http2 on "))
        return try Tool.start([
            "send", folder("\(journal).ndjson"), "--journal", folder(journal), "--endpoint",
            "https://localhost:\(port)",
            "--trust", folder("tls/ca.pem"), "--key", folder("certs/AuthKey.p8"), "--key-id", "MOCKKEYID1", "--team-id",
            "MOCKTEAMID", "--json",
        ])
    }

    /// Ends it as if it had died.
    func kill() { service.withLock { $0 }?.kill(SIGKILL) }

    func stop() async throws -> Tool.Result {
        let tool = try #require(service.withLock { $0 })
        tool.kill(SIGTERM)
        return try await tool.result()
    }
}
