internal import Holdfast
package import Tracing

/// Makes spans of notifications for a collector, and reads and writes the W3C's headers.
package struct CollectorTracer: Tracer {
    private let queue: SpanQueue
    private let sample: Double

    /// - Parameter sample: the share of new traces that are recorded. A trace that has begun elsewhere is, or is not, as its
    ///   beginner said.
    package init(_ queue: SpanQueue, sample: Double) { (self.queue, self.sample) = (queue, sample) }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> CollectedSpan {
        var context = context()
        let parent = context[TraceKey.self]
        let isSampled = parent?.isSampled ?? (sample > 0 && Double.random(in: 0..<1) < sample)
        let trace = TraceContext(
            traceID: parent?.traceID ?? .init(high: .random(in: 1 ... .max), low: .random(in: 1 ... .max)),
            spanID: .random(in: 1 ... .max), isSampled: isSampled, tracestate: parent?.tracestate ?? "")
        context[TraceKey.self] = trace
        let record = SpanRecord(
            name: operationName, kind: kind, trace: trace, parent: parent?.spanID,
            start: isSampled ? instant().nanosecondsSinceEpoch : 0)
        return CollectedSpan(record, context: context, queue: isSampled ? queue : nil)
    }

    package func startAnySpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> any Tracing.Span {
        startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line
        )
    }

    /// Spans go by themselves.
    package func forceFlush() {}

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier) else { return }
        context[TraceKey.self] = TraceContext(
            traceparent: parent, tracestate: extractor.extract(key: "tracestate", from: carrier))
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context[TraceKey.self] else { return }
        injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
        if !trace.tracestate.isEmpty { injector.inject(trace.tracestate, forKey: "tracestate", into: &carrier) }
    }
}

/// Where a context has the trace.
enum TraceKey: ServiceContextKey {
    typealias Value = TraceContext
    static var nameOverride: String? { "holdfast-trace" }
}
