import Foundation
import HoldfastTesting
import Logging
import NIOCore
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// A log that keeps its lines.
private struct KeptLog: LogHandler {
    let lines: Monitor<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.withLock { $0.append("\(event.message)") } }
}

@Suite("The log of a listener") struct ListenerLogTests {
    private let lines = Monitor<[String]>([])

    private func log(interval: Duration) -> ListenerLog {
        ListenerLog(Logger(label: "test") { _ in KeptLog(lines: lines) }, name: "http2", interval: interval)
    }

    private var told: [String] { lines.withLock(\.self) }

    @Test("A line names the listener and the client") func names() throws {
        log(interval: .zero)(
            .refusedCertificates, "no good", peer: try SocketAddress(ipAddress: "192.0.2.7", port: 4711))
        log(interval: .zero)(.revocationLists, "no list")
        #expect(told == ["listener http2, client 192.0.2.7: no good", "listener http2: no list"])
    }

    @Test("With an interval of 0s each line is logged; else the next one of a kind counts those that were left out")
    func interval() {
        for (interval, expected) in [(Duration.zero, 3), (.seconds(3600), 1)] {
            lines.withLock { $0 = [] }
            let log = log(interval: interval)
            for number in 1...3 { log(.refusedCertificates, "\(number)") }
            #expect(told.count == expected)
            // A refusal of another kind is not among them.
            log(.refusedTopics, "another")
            #expect(told.last == "listener http2: another")
        }
    }

    @Test("A gateway logs as often as it is told to")
    func configured() async throws {
        var configuration = GatewayConfiguration()
        configuration.http2 = HTTP2IngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        configuration.http2?.requiresCredentials = true
        configuration.submitters = [try TestSigner().submitter()]
        configuration.logInterval = .zero
        let logger = Logger(label: "test") { _ in KeptLog(lines: lines) }
        let engine = try PushEngine(journal: InMemoryJournal(), routes: [], logger: logger)
        let gateway = try await Gateway(configuration, engine: engine, logger: logger)
        let task = Task { try await gateway.run() }
        let client = try await HTTP2Client.connect(port: try #require(gateway.addresses["http2"]).port)
        for _ in 0..<3 { _ = try await client.send(HTTP2World.request()) }
        try await client.close()
        task.cancel()
        try await task.value
        #expect(told.filter { $0.contains("MissingProviderToken") }.count == 3)
    }

    @Test("A name keeps its letters, and shows in escapes what could make it look like another's")
    func printable() {
        #expect(ClientJudge.printable("CN=müller,O=東京 – é") == "CN=müller,O=東京 – é")
        #expect(ClientJudge.printable("CN=a\u{202E}b\u{85}c\u{200B}d\n") == "CN=a\\u{202E}b\\u{85}c\\u{200B}d\\u{A}")
        #expect(ClientJudge.printable(String(repeating: "x", count: 999)) == String(repeating: "x", count: 200) + "…")
    }
}
