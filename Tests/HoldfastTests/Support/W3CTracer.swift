import InMemoryTracing
import Tracing

/// A tracer that is not ours, with the W3C's headers.
struct W3CTracer: Tracer {
    let memory: InMemoryTracer

    init() {
        memory = InMemoryTracer(
            idGenerator: .init(
                nextTraceID: { Self.digits(2) }, nextSpanID: { Self.digits(1) }))
    }

    private static func digits(_ count: Int) -> String {
        (0..<count).map { _ in String(String(UInt64.random(in: 1 << 60 ... .max), radix: 16)) }.joined()
    }

    var spans: [FinishedInMemorySpan] { memory.finishedSpans }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
        memory.startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line
        )
    }

    func startAnySpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> any Span {
        startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line
        )
    }

    func forceFlush() {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        var own: [String: String] = [:]
        memory.inject(context, into: &own, using: Fields())
        guard let trace = own[InMemoryTracer.traceIDKey], let span = own[InMemoryTracer.spanIDKey] else { return }
        injector.inject("00-\(trace)-\(span)-01", forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        let parts = extractor.extract(key: "traceparent", from: carrier)?.split(separator: "-") ?? []
        guard parts.count == 4 else { return }
        memory.extract(
            [InMemoryTracer.traceIDKey: String(parts[1]), InMemoryTracer.spanIDKey: String(parts[2])], into: &context,
            using: Fields())
    }

    private struct Fields: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }
}
