import HoldfastAPNsAnswers
import HoldfastTesting
import InMemoryTracing
import Logging
import Testing
import Tracing

@testable import Holdfast

@Suite("Spans of notifications")
struct TracingTests {
    private let tracer = W3CTracer()
    private let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func engine(
        _ journal: InMemoryJournal, _ connector: InMemoryConnector, tracer: (any Tracer)?
    ) throws -> PushEngine {
        var configuration = EngineConfiguration()
        configuration.retry = RetrySchedule(minimum: .milliseconds(2), maximum: .milliseconds(4), greatestCount: 5)
        configuration.throttle.minimumPause = .milliseconds(2)
        configuration.throttle.maximumPause = .milliseconds(4)
        configuration.throttle.firstBurst = .max
        return try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: configuration,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, tracer: tracer)
    }

    private func spans(_ name: String) -> [FinishedInMemorySpan] {
        tracer.spans.filter { $0.operationName.hasPrefix(name) }
    }

    private func notification(_ number: Int, traced: Bool = true) -> PushNotification {
        var notification = Sample.notification(number)
        if traced { notification.trace = TraceContext(traceparent: parent) }
        return notification
    }

    @Test("One that is deferred once has a span for its submission, for each attempt, and for its end") func attempts()
        async throws
    {
        let refused = Monitor(false)
        let connector = InMemoryConnector { _ in
            refused.withLock { refused in
                defer { refused = true }
                return refused ? .confirmed : SendResult(apnsStatus: 429, reason: "TooManyRequests")
            }
        }
        let engine = try engine(InMemoryJournal(), connector, tracer: tracer)
        let receipts = await engine.producer.submit([notification(1)])
        #expect(try await runUntilIdle(engine) == .drained)
        let send = try #require(spans("send ").first)
        #expect(send.traceID == "0af7651916cd43dd8448eb211c80319c" && send.parentSpanID == "b7ad6b7169203331")
        #expect(send.kind == .producer)
        #expect(send.attributes.get("holdfast.uid") == .int64(Int64(try #require(receipts[0].uid).rawValue)))
        let attempts = spans("attempt ")
        try #require(attempts.count == 2)
        #expect(attempts.allSatisfy { $0.parentSpanID == send.spanID && $0.kind == .client })
        #expect(attempts[0].attributes.get("http.response.status_code") == .int64(429))
        #expect(attempts[0].attributes.get("error.type") == .string("TooManyRequests"))
        #expect(attempts[0].status?.code == .error && attempts[1].status == nil)
        // Where nothing else is answered, such a refusal is the service's and counts no attempt.
        #expect(attempts[1].attributes.get("holdfast.attempt") == .int64(1))
        let settle = try #require(spans("settle ").first)
        #expect(spans("settle ").count == 1 && settle.parentSpanID == send.spanID)
        #expect(settle.attributes.get("holdfast.outcome") == .string("confirmed"))
        #expect(settle.links.count == 1)
        #expect(tracer.memory.activeSpans.isEmpty)
    }

    @Test("After a crash between acceptance and sending, the attempt is in the same trace") func crash() async throws {
        let journal = InMemoryJournal()
        let first = try engine(journal, InMemoryConnector(), tracer: tracer)
        _ = await first.producer.submit([notification(1)])
        let send = try #require(spans("send ").first)
        let second = W3CTracer()
        let engine = try engine(journal.crashed(), InMemoryConnector(), tracer: second)
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(second.spans.count == 2)
        #expect(second.spans.allSatisfy { $0.traceID == send.traceID && $0.parentSpanID == send.spanID })
    }

    @Test("The task's context is the parent of those that name none, and is linked by those that do") func ambient()
        async throws
    {
        let engine = try engine(InMemoryJournal(), InMemoryConnector(), tracer: tracer)
        let outer = tracer.startSpan("outer", context: .topLevel)
        _ = await ServiceContext.withValue(outer.context) {
            await engine.producer.submit([notification(1, traced: false), notification(2)])
        }
        outer.end()
        let send = spans("send ")
        try #require(send.count == 2)
        #expect(send[0].parentSpanID == outer.spanID && send[0].links.isEmpty)
        #expect(send[1].parentSpanID == "b7ad6b7169203331" && send[1].links.count == 1)
        #expect(send.allSatisfy { $0.attributes.get("messaging.batch.message_count") == .int64(2) })
    }

    @Test("Without a tracer nothing is kept, and what was kept before is passed over") func off() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try engine(journal, connector, tracer: nil)
        _ = await engine.producer.submit([notification(1)])
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.map(\.trace) == [nil])

        let kept = InMemoryJournal()
        let traced = try self.engine(kept, InMemoryConnector(), tracer: tracer)
        _ = await traced.producer.submit([notification(2)])
        let later = InMemoryConnector()
        let untraced = try self.engine(kept.crashed(), later, tracer: nil)
        #expect(try await runUntilIdle(untraced) == .drained)
        #expect(later.sent.count == 1)
    }

    @Test("A refusal and an end without an attempt are told, without tokens and payloads") func refusals() async throws
    {
        let engine = try engine(InMemoryJournal(), InMemoryConnector(), tracer: tracer)
        var bad = notification(1)
        bad.payload = Array("no JSON".utf8)
        _ = await engine.producer.submit([bad, notification(2)])
        let send = spans("send ")
        #expect(send.map { $0.attributes.get("error.type") } == [.string("PayloadNotJSON"), nil])
        #expect(try await runUntilIdle(engine) == .drained)
        let words = tracer.spans.map { "\($0.operationName) \($0.attributes)" }.joined()
        #expect(!words.contains(Hex.string(Sample.notification(2).token!.bytes)))
        #expect(!words.contains("alert"))
    }
}
