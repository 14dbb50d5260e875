package import Tracing

/// Starts the spans of notifications with an application's tracer. Without a tracer there is none, and nothing is done.
///
/// Spans begin and end where effects are, and decide nothing. Their parents are kept with the notifications, as the W3C's
/// headers, so any tracer that writes and reads those finds the trace again after a restart.
package struct NotificationTracer: Sendable {
    private let tracer: any Tracer

    package init(_ tracer: any Tracer) { self.tracer = tracer }

    /// Starts a span.
    ///
    /// - Parameters:
    ///   - parent: the trace that a notification belongs to; `nil` for `ambient`.
    ///   - ambient: the context of the task that submits. Beside a parent it is linked.
    /// - Returns: a span that may not be recorded: by the sender's word, or because none of its own was wanted.
    package func start(
        _ name: String, _ kind: SpanKind, parent: TraceContext?, ambient: ServiceContext? = nil,
        at start: UInt64 = DefaultTracerClock.now.nanosecondsSinceEpoch
    ) -> TracedSpan {
        let context = parent.map(context) ?? ambient ?? .topLevel
        let instant = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start)
        let span: any Span = tracer.startSpan(name, context: context, ofKind: kind, at: instant)
        let own = trace(of: span.context)
        guard span.isRecording, own?.isSampled ?? true else {
            span.end(at: instant)
            return TracedSpan(span: nil, trace: own)
        }
        if parent != nil, let ambient, !ambient.isEmpty {
            span.addLink(SpanLink(context: ambient, attributes: [:]))
        }
        return TracedSpan(span: span, trace: own)
    }

    private func context(of trace: TraceContext) -> ServiceContext {
        var carrier = ["traceparent": trace.traceparent]
        if !trace.tracestate.isEmpty { carrier["tracestate"] = trace.tracestate }
        var context = ServiceContext.topLevel
        tracer.extract(carrier, into: &context, using: HeaderCarrier())
        return context
    }

    private func trace(of context: ServiceContext) -> TraceContext? {
        var carrier: [String: String] = [:]
        tracer.inject(context, into: &carrier, using: HeaderCarrier())
        return carrier["traceparent"].flatMap { TraceContext(traceparent: $0, tracestate: carrier["tracestate"]) }
    }

    /// Reads and writes header fields.
    private struct HeaderCarrier: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }

        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }
}

/// A span of a notification, and the trace as its children see it.
package struct TracedSpan: Sendable {
    /// Nil if it is not recorded.
    let span: (any Span)?
    /// Also of one that is not recorded, whose children are not either; nil if the tracer has other headers than the W3C's, and
    /// then nothing can be kept.
    package let trace: TraceContext?

    /// Whether anybody will see it. Nothing is kept of one that nobody will.
    package var isRecorded: Bool { span != nil }

    /// Ends it.
    ///
    /// - Parameters:
    ///   - attributes: by OpenTelemetry's names where it has one. Neither tokens nor payloads.
    ///   - error: the kind of failure, of which there are few; `nil` for none.
    package func end(_ attributes: [String: any SpanAttributeConvertible & Sendable], error: String? = nil) {
        guard let span else { return }
        span.updateAttributes { all in
            for (name, value) in attributes { all[name] = value.toSpanAttribute() }
            if let error { all["error.type"] = error }
        }
        if let error { span.setStatus(SpanStatus(code: .error, message: error)) }
        span.end()
    }

    /// Refers to another span, such as the attempt by which a notification has ended.
    func link(_ other: TracedSpan) {
        guard let other = other.span else { return }
        span?.addLink(SpanLink(context: other.context, attributes: [:]))
    }
}
