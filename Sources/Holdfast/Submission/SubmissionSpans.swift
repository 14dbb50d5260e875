internal import Tracing

/// The spans of one submission: one for each of its notifications, from its acceptance to the commit. Each is the parent of
/// everything that becomes of its notification.
struct SubmissionSpans: Sendable {
    /// The notifications, each in the trace of its own span, or in none.
    let notifications: [PushNotification]
    private let spans: [TracedSpan]
    private let producer: String

    init(_ tracer: NotificationTracer, _ notifications: ArraySlice<PushNotification>, producer: String) {
        self.producer = producer
        let ambient = ServiceContext.current
        var (traced, spans) = (Array(notifications), [TracedSpan]())
        for index in traced.indices {
            let span = tracer.start(
                "send \(traced[index].topic)", .producer, parent: traced[index].trace, ambient: ambient)
            traced[index].trace = span.isRecorded ? span.trace : nil
            spans.append(span)
        }
        (self.notifications, self.spans) = (traced, spans)
    }

    /// The commit has come, or will not.
    func end(_ receipts: [Receipt]) {
        for (index, receipt) in receipts.enumerated() {
            let span = spans[index]
            guard span.isRecorded else { continue }
            let notification = notifications[index]
            var attributes: [String: any SpanAttributeConvertible & Sendable] = [
                "messaging.system": "holdfast", "messaging.operation.type": "send",
                "messaging.operation.name": "submit",
                "messaging.destination.name": notification.topic,
                "messaging.message.body.size": notification.payload.count, "holdfast.producer": producer,
            ]
            if let id = notification.id { attributes["messaging.message.id"] = id.description }
            if receipts.count > 1 { attributes["messaging.batch.message_count"] = receipts.count }
            if let uid = receipt.uid { attributes["holdfast.uid"] = Int64(bitPattern: uid.rawValue) }
            span.end(attributes, error: receipt.failure)
        }
        // Behind a refusal there is no receipt.
        for index in spans.indices.dropFirst(receipts.count) { spans[index].end([:], error: "discarded") }
    }
}

extension Receipt {
    /// Why nothing of it is known to be on disk; `nil` if it is.
    package var failure: String? {
        switch self {
        case .accepted, .repeated: nil
        case .refused(let refusal): refusal.reason.rawValue
        case .undetermined: "undetermined"
        }
    }
}
