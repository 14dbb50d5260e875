internal import Holdfast
internal import Tracing

/// The spans of a batch of requests, from their reading to the commit behind which they are answered. Each is a child of the
/// sender's span, if the sender names one.
struct RequestSpans: Sendable {
    /// The notifications, each in the trace of its own span, or in none.
    let notifications: [PushNotification]
    private let spans: [(span: TracedSpan, form: AnswerForm)]
    private let isSecure: Bool

    init(_ tracer: NotificationTracer, _ batch: HTTP2IngressSession.Batch, isSecure: Bool) {
        var (traced, spans) = (batch.notifications, [(span: TracedSpan, form: AnswerForm)]())
        for index in traced.indices {
            let form = batch.waiting[index].form
            let span = tracer.start("POST \(form.route)", .server, parent: traced[index].trace)
            // Where it is not recorded, neither is what follows.
            traced[index].trace = span.trace ?? traced[index].trace
            spans.append((span, form))
        }
        (notifications, self.spans, self.isSecure) = (traced, spans, isSecure)
    }

    func end(_ receipts: [Receipt]) {
        for ((span, form), receipt) in zip(spans, receipts) where span.isRecorded {
            var attributes: [String: any SpanAttributeConvertible & Sendable] = [
                "http.request.method": "POST", "http.route": form.route,
                "url.scheme": isSecure ? "https" : "http", "network.protocol.name": "http",
                "network.protocol.version": "2",
            ]
            let status = Self.status(receipt, form)
            if let status { attributes["http.response.status_code"] = status }
            // A refusal is the sender's error, and by the conventions none of the server's.
            let isRefusal = status.map { (400..<500).contains($0) } ?? false
            if isRefusal { attributes["holdfast.reason"] = receipt.failure ?? "" }
            span.end(attributes, error: isRefusal ? nil : receipt.failure)
        }
    }

    /// Nil where the request is not answered, and where its answer is the outcome of an earlier one.
    private static func status(_ receipt: Receipt, _ form: AnswerForm) -> Int? {
        switch receipt {
        case .accepted: 200
        case .refused(let refusal): form.answer(to: refusal).status
        case .repeated, .undetermined: nil
        }
    }
}
