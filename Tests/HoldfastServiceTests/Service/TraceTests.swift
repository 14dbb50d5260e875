import Foundation
import Holdfast
import HoldfastGateway
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastRequests
import HoldfastWebhooks
import Logging
import RawClients
import Scratch
import ServiceLifecycle
import Testing
import Tracing

@testable import HoldfastService

@Suite("Traces of a service", .timeLimit(.minutes(2)))
struct TraceTests {
    private let folder: TemporaryFolder
    private let logger = Logger(label: "app") { _ in SwiftLogNoOpLogHandler() }
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00-\(trace)-00f067aa0ba902b7-01"
    private static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    init() throws { folder = try TemporaryFolder() }

    private func server(to address: String, trusting authority: String, traces: String) throws -> HoldfastServer {
        let text = """
            journal: {path: push.journal}
            routes: [{name: app, topics: [com.example.app], endpoint: "https://\(address)", trust: \(authority)}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            limits: {shutdown-limit: 2s, reconnect: {maximum: 1s}}
            traces: {\(traces)}
            """
        return try HoldfastServer(
            configuration: HoldfastConfiguration(yaml: text, relativeTo: folder.path), logger: logger)
    }

    private func serving(_ server: HoldfastServer, _ body: () async throws -> Void) async throws {
        let group = ServiceGroup(services: [server], logger: logger)
        async let ended: Void = group.run()
        #expect(await waitUntil { server.health.isReady }, "\(server.health)")
        try await body()
        await group.triggerGracefulShutdown()
        try await ended
    }

    private func push(
        to server: HoldfastServer, _ headers: [String] = ["traceparent: \(parent)", "tracestate: congo=t61"]
    ) async throws -> String {
        let port = try #require(server.addresses["http2"]).port
        let answer = try await Command.run(
            "curl",
            [
                "-s", "-o", "/dev/null", "-w", "%{http_code}", "--http2-prior-knowledge", "-H",
                "apns-topic: com.example.app",
            ]
                + headers.flatMap { ["-H", $0] } + [
                    "-d", #"{"aps":{"alert":"Hi"}}"#, "http://127.0.0.1:\(port)/3/device/\(Self.token)",
                ])
        return answer.text
    }

    private func withMock(_ body: (MockAPNsServer) async throws -> Void) async throws {
        var configuration = MockAPNsConfiguration()
        configuration.certificateDirectory = folder("certs")
        let mock = try await MockAPNsServer.start(configuration)
        do {
            try await body(mock)
        } catch {
            try await mock.stop()
            throw error
        }
        try await mock.stop()
    }

    @Test("A sender's trace goes from its request to the outcome, without its token and its payload") func whole()
        async throws
    {
        let collector = try await TraceCollector(in: folder)
        try await withMock { mock in
            let server = try server(
                to: mock.address, trusting: mock.certificateAuthorityFile,
                traces: "endpoint: \"http://127.0.0.1:\(collector.port)\", interval: 10ms")
            try await serving(server) { () async throws in
                #expect(try await push(to: server) == "200")
                #expect(try await waitUntil { try collector.spans.count == 4 })
            }
            #expect(server.prometheusText.contains("holdfast_trace_spans_exported_total 4\n"))
        }
        let spans = try collector.spans
        #expect(spans.allSatisfy { $0.traceId == Self.trace && $0.traceState == "congo=t61" })
        let request = try #require(try collector.span("POST /3/device/{token}"))
        #expect(request.parentSpanId == "00f067aa0ba902b7" && request.kind == 2)
        #expect(request["http.response.status_code"] == "200" && request["http.request.method"] == "POST")
        let send = try #require(try collector.span("send com.example.app"))
        #expect(send.parentSpanId == request.spanId && send.kind == 4)
        let attempt = try #require(try collector.span("attempt com.example.app"))
        #expect(attempt.parentSpanId == send.spanId && attempt.kind == 3)
        #expect(attempt["http.response.status_code"] == "200" && attempt["holdfast.route"] == "app")
        let settle = try #require(try collector.span("settle com.example.app"))
        #expect(settle.parentSpanId == send.spanId && settle.links?.map(\.spanId) == [attempt.spanId])
        #expect(settle["holdfast.outcome"] == "confirmed")
        #expect(settle["messaging.message.id"] == attempt["messaging.message.id"])
        #expect(spans.allSatisfy { UInt64($0.startTimeUnixNano)! <= UInt64($0.endTimeUnixNano)! })
        let all = try folder.read("spans")
        #expect(!all.contains(Self.token) && !all.contains("Hi"))
    }

    @Test("The trace of what a service has left is that of the next one") func restart() async throws {
        let collector = try await TraceCollector(in: folder)
        let traces = "endpoint: \"http://127.0.0.1:\(collector.port)\", interval: 10ms"
        try await withMock { mock in
            // Nobody listens there.
            let first = try server(to: "127.0.0.1:1", trusting: mock.certificateAuthorityFile, traces: traces)
            try await serving(first) { () async throws in #expect(try await push(to: first) == "200") }
            let send = try #require(try collector.span("send "))
            let second = try server(to: mock.address, trusting: mock.certificateAuthorityFile, traces: traces)
            try await serving(second) { () async throws in
                #expect(try await waitUntil { try collector.span("settle ") != nil })
            }
            #expect(try collector.span("attempt ")?.parentSpanId == send.spanId)
            #expect(try collector.spans.allSatisfy { $0.traceId == Self.trace })
        }
    }

    @Test("A malformed, doubled or unsampled trace, and none, are no fault of a request, and nobody sees a span")
    func nobodys() async throws {
        let collector = try await TraceCollector(in: folder)
        try await withMock { mock in
            let server = try server(
                to: mock.address, trusting: mock.certificateAuthorityFile,
                traces: "endpoint: \"http://127.0.0.1:\(collector.port)\", interval: 10ms")
            try await serving(server) { () async throws in
                #expect(try await push(to: server, []) == "200")
                #expect(try await push(to: server, ["traceparent: nonsense"]) == "200")
                #expect(
                    try await push(to: server, ["traceparent: \(Self.parent)", "traceparent: \(Self.parent)"]) == "200")
                #expect(try await push(to: server, ["traceparent: \(Self.parent.dropLast())0"]) == "200")
                #expect(await waitUntil { mock.counters.accepted == 4 })
                #expect(await waitUntil { server.engine?.status().unconfirmed == 0 })
            }
        }
        #expect(try collector.spans.isEmpty)
    }

    @Test("Of those without a trace the sampled share gets one of its own") func sampled() async throws {
        let collector = try await TraceCollector(in: folder)
        try await withMock { mock in
            let server = try server(
                to: mock.address, trusting: mock.certificateAuthorityFile,
                traces: "endpoint: \"http://127.0.0.1:\(collector.port)\", interval: 10ms, sample: 1")
            try await serving(server) { () async throws in
                // Its sender wants none, which holds.
                #expect(try await push(to: server, ["traceparent: \(Self.parent.dropLast())0"]) == "200")
                #expect(await waitUntil { mock.counters.accepted == 1 })
                #expect(try await push(to: server, []) == "200")
                #expect(try await waitUntil { try collector.spans.count >= 4 })
            }
        }
        #expect(try collector.spans.count == 4)
        #expect(Set(try collector.spans.map(\.traceId)).count == 1)
        #expect(try collector.span("POST ")?.parentSpanId == nil)
    }

    @Test(
        "A collector that is away, hangs, fails or answers nonsense holds nothing up",
        arguments: ["away", "hang", "nonsense", "400", "503"]) func troubled(mode: String) async throws
    {
        let collector = try await TraceCollector(in: folder, mode: mode)
        try await withMock { mock in
            // Port 1 is nobody's.
            let port = mode == "away" ? 1 : collector.port
            let server = try server(
                to: mock.address, trusting: mock.certificateAuthorityFile,
                traces: "endpoint: \"http://127.0.0.1:\(port)\", interval: 10ms, timeout: 100ms, limit: 5, sample: 1")
            let start = ContinuousClock.now
            try await serving(server) { () async throws in
                for _ in 0..<3 { #expect(try await push(to: server) == "200") }
                #expect(await waitUntil { server.engine?.status().unconfirmed == 0 })
            }
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(mock.counters.accepted == 3)
            let lines = server.prometheusText.split(separator: "\n")
            let dropped = lines.filter { $0.hasPrefix("holdfast_trace_spans_dropped_total") }
                .reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
            #expect(dropped == 12)
            #expect(lines.contains("holdfast_trace_spans_exported_total 0"))
        }
    }

    @Test("Spans beyond the limit are dropped and counted") func bounded() {
        let queue = SpanQueue(limit: 3)
        let tracer = CollectorTracer(queue, sample: 1)
        for _ in 0..<5 { tracer.startSpan("a span", context: .topLevel).end() }
        #expect(queue.figures.0.overflowed == 2 && queue.figures.waiting == 3)
    }

    @Test("Without an endpoint nothing of a trace is kept") func off() async throws {
        try await withMock { mock in
            let server = try server(to: "127.0.0.1:1", trusting: mock.certificateAuthorityFile, traces: "sample: 1")
            try await serving(server) { () async throws in #expect(try await push(to: server) == "200") }
            #expect(!server.prometheusText.contains("holdfast_trace_"))
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder("push.journal")) {
                guard let bytes = FileManager.default.contents(atPath: folder("push.journal") + "/" + name) else {
                    continue
                }
                // The trace's first bytes, as a record would have them.
                #expect(bytes.range(of: Data([0xA6, 0x4D, 0xB3, 0x77, 0x35, 0x2F, 0xF9, 0x4B])) == nil)
            }
        }
    }

    @Test("What is no endpoint is a mistake with its words, and a change waits for a restart") func configuration()
        throws
    {
        func problem(_ endpoint: String) throws -> String? {
            let error = #expect(throws: ConfigError.self) {
                try HoldfastConfiguration(yaml: "traces: {endpoint: \"\(endpoint)\"}", named: "c.yaml")
            }
            return error?.problems.first?.description
        }
        #expect(
            try problem("http://collector:4318")?.hasSuffix(
                ": traces.endpoint: is http:// to another machine: spans go there in the clear; use https://, or 127.0.0.1 or [::1]; takes https://HOST[:PORT][/PATH]"
            ) == true)
        #expect(try problem("https://user@collector")?.contains("requests carry no credentials") == true)
        let settings = try HoldfastConfiguration(yaml: "traces: {endpoint: \"https://collector:4318/v1/traces?key=a\"}")
        #expect(settings.traces.endpoint?.target == "/v1/traces?key=a")
        let none = try HoldfastConfiguration(yaml: "log: {interval: 1s}")
        #expect(none.traces.endpoint == nil && none.traces.target == nil)
        #expect(try ServiceReload(from: none, [], to: settings).needsRestart == ["traces"])
    }
}
