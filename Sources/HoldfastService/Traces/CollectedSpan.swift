internal import Holdfast
package import Tracing

/// A span that goes to a collector when it has ended; or to nobody.
package final class CollectedSpan: Span {
    package let context: ServiceContext
    private let state: Monitor<SpanRecord>
    /// Nil if it is not recorded.
    private let queue: SpanQueue?

    init(_ record: SpanRecord, context: ServiceContext, queue: SpanQueue?) {
        (self.context, self.queue) = (context, queue)
        state = Monitor(record)
    }

    package var isRecording: Bool { queue != nil }

    package var operationName: String {
        get { state.withLock(\.name) }
        set { state.withLock { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock(\.attributes) }
        set { if isRecording { state.withLock { $0.attributes = newValue } } }
    }

    package func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    package func addEvent(_ event: SpanEvent) { if isRecording { state.withLock { $0.events.append(event) } } }

    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    package func addLink(_ link: SpanLink) {
        guard isRecording, let trace = link.context[TraceKey.self] else { return }
        state.withLock { $0.links.append(trace) }
    }

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let queue else { return }
        let end = instant().nanosecondsSinceEpoch
        let record: SpanRecord? = state.withLock { record in
            guard record.end == nil else { return nil }
            record.end = max(end, record.start)
            return record
        }
        if let record { queue.add(record) }
    }
}

/// What is known of a span.
package struct SpanRecord: Sendable {
    var name: String
    let kind: SpanKind
    let trace: TraceContext
    /// Nil for the first of a trace.
    let parent: UInt64?
    /// Nanoseconds since 1970.
    let start: UInt64
    /// Nil until it has ended.
    var end: UInt64?
    var attributes = SpanAttributes()
    var events: [SpanEvent] = []
    var links: [TraceContext] = []
    var status: SpanStatus?

    init(name: String, kind: SpanKind, trace: TraceContext, parent: UInt64?, start: UInt64) {
        (self.name, self.kind, self.trace, self.parent, self.start) = (name, kind, trace, parent, start)
    }
}
