internal import Tracing

/// The spans of a route's attempts, and of the settlements that end notifications. There is none without a tracer.
///
/// It hears what is handed out, what is answered and what is on disk, and nobody asks it anything. Confined to the thread that
/// runs the route's turns.
final class RouteSpans {
    /// A traced notification on its way through the route.
    private struct Traced {
        let trace: TraceContext
        let topic: String
        let id: NotificationID
        let acceptedAt: WallTime
        var attempts: Int
        /// The attempt that has no answer yet, and where it is.
        var attempt: (span: TracedSpan, connection: Int, ticket: Ticket)?
        /// Of the last attempt that has.
        var answered: (span: TracedSpan, at: UInt64)?
    }

    /// The most traced notifications that are followed at a time; beyond them attempts have no spans.
    private static let limit = 100_000

    private let tracer: NotificationTracer
    private let route: String
    private let connector: any Connector
    private var traced: [EntryKey: Traced] = [:]
    /// Those handed out without an answer, by connection.
    private var tickets: [Int: [Ticket: EntryKey]] = [:]

    init(_ tracer: NotificationTracer, route: Route) {
        (self.tracer, self.route, connector) = (tracer, route.name, route.connector)
    }

    // MARK: Attempts

    /// Entries are about to go to a connection.
    ///
    /// - Parameters:
    ///   - batch: those that go and those that don't.
    ///   - withheld: the positions of those that don't, ascending.
    ///   - given: the tickets of the others.
    func handOut(_ batch: EntryBatch, of lane: LaneID, withheld: [Int], given: [Ticket], on connection: Int) {
        var (withheld, given) = (withheld[...], given[...])
        for position in batch.items.indices {
            let isWithheld = withheld.first == position
            let ticket = isWithheld ? nil : given.popFirst()
            if isWithheld { withheld.removeFirst() }
            guard var entry = read(batch, at: position) else { continue }
            let key = EntryKey(lane: lane, uid: batch.items[position].uid)
            guard traced[key] != nil || traced.count < Self.limit else { continue }
            if let ticket {
                endAttempt(key, error: "never_processed")
                let span = tracer.start("attempt \(entry.topic)", .client, parent: entry.trace)
                entry.attempt = (span, connection, ticket)
                tickets[connection, default: [:]][ticket] = key
            }
            traced[key] = entry
        }
    }

    /// Reads entries that an operator is about to take back.
    func note(_ batch: EntryBatch, of lane: LaneID) {
        for position in batch.items.indices {
            let key = EntryKey(lane: lane, uid: batch.items[position].uid)
            guard traced[key] == nil, traced.count < Self.limit, let entry = read(batch, at: position) else { continue }
            traced[key] = entry
        }
    }

    private func read(_ batch: EntryBatch, at position: Int) -> Traced? {
        // What can't be read is told elsewhere.
        guard let fields = try? batch.fields(at: position), let trace = fields.trace(in: batch.bytes.span) else {
            return nil
        }
        return Traced(
            trace: trace, topic: String(decoding: batch.bytes[fields.topic], as: UTF8.self), id: fields.id,
            acceptedAt: fields.acceptedAt, attempts: Int(batch.items[position].attempts))
    }

    /// A connection has said something.
    func take(_ event: ConnectorEvent, of connection: Int) {
        guard tickets[connection] != nil else { return }
        switch event {
        case .confirmed(let tickets):
            for ticket in tickets { answer(ticket, of: connection, nil) }
        case .results(let results):
            for (ticket, result) in results { answer(ticket, of: connection, result) }
        case .ended:
            let rest = tickets.removeValue(forKey: connection) ?? [:]
            for key in rest.values { endAttempt(key, error: "connection_ended") }
        default: return
        }
    }

    private func answer(_ ticket: Ticket, of connection: Int, _ result: SendResult?) {
        guard let key = tickets[connection]?[ticket] else { return }
        var error: String?
        if let result, result.verdict != .confirmed {
            error = result.reason?.rawValue ?? result.status.map { "\($0)" } ?? result.verdict.word
        }
        endAttempt(key, result, error: error)
    }

    private func endAttempt(_ key: EntryKey, _ result: SendResult? = nil, error: String? = nil) {
        guard var entry = traced[key], let attempt = entry.attempt else { return }
        tickets[attempt.connection]?[attempt.ticket] = nil
        entry.attempts += 1
        var attributes = attributes(of: entry, key, "attempt")
        attributes["holdfast.connection"] = attempt.connection
        attributes["holdfast.attempt"] = entry.attempts
        attributes["server.address"] = connector.endpoint
        if let status = result?.status ?? (error == nil ? connector.confirmingStatus : nil) {
            attributes["http.request.method"] = "POST"
            attributes["http.response.status_code"] = status
        }
        if let unique = result?.uniqueID { attributes["holdfast.apns_unique_id"] = unique }
        attempt.span.end(attributes, error: error)
        entry.answered = (attempt.span, DefaultTracerClock.now.nanosecondsSinceEpoch)
        entry.attempt = nil
        traced[key] = entry
    }

    // MARK: Ends

    /// An entry goes back into its lane as it was.
    func requeued(_ key: EntryKey) {
        endAttempt(key, error: "never_processed")
        traced[key] = nil
    }

    /// Settlements are on disk.
    func settled(_ batch: SettlementBatch) {
        guard !traced.isEmpty else { return }
        for acknowledgement in batch.acknowledged { end(acknowledgement.key, "confirmed") }
        for key in batch.quieted { end(key, "confirmed") }
        for settlement in batch.others {
            switch settlement.kind {
            case .reject(let cause): end(settlement.key, "rejected", cause.reason)
            case .expire: end(settlement.key, "expired", .expired)
            case .unknown, .withdrawSent: end(settlement.key, "unknown")
            case .withdraw: end(settlement.key, "withdrawn")
            case .supersede: end(settlement.key, "superseded")
            // It is read again, with its trace.
            case .deferUntil, .move, .recall: requeued(settlement.key)
            }
        }
    }

    private func end(_ key: EntryKey, _ outcome: String, _ reason: Reason? = nil) {
        guard traced[key] != nil else { return }
        // On a connection that answers errors only, this is the first that is heard of it.
        endAttempt(key)
        guard let entry = traced.removeValue(forKey: key) else { return }
        let start = entry.answered?.at ?? DefaultTracerClock.now.nanosecondsSinceEpoch
        let span = tracer.start("settle \(entry.topic)", .internal, parent: entry.trace, at: start)
        if let answered = entry.answered { span.link(answered.span) }
        var attributes = attributes(of: entry, key, "settle")
        attributes["holdfast.outcome"] = outcome
        attributes["holdfast.attempts"] = entry.attempts
        attributes["holdfast.accepted_at"] = Timestamp.format(entry.acceptedAt)
        span.end(attributes, error: reason?.rawValue)
    }

    private func attributes(
        of entry: Traced, _ key: EntryKey, _ operation: String
    ) -> [String: any SpanAttributeConvertible & Sendable] {
        [
            "messaging.system": "holdfast", "messaging.operation.name": operation,
            "messaging.operation.type": operation == "settle" ? "settle" : "process",
            "messaging.destination.name": entry.topic, "messaging.message.id": entry.id.description,
            "holdfast.route": route, "holdfast.uid": Int64(bitPattern: key.uid.rawValue),
        ]
    }
}

extension SendResult.Verdict {
    /// Without what it is about.
    fileprivate var word: String {
        switch self {
        case .confirmed: "confirmed"
        case .rejected: "rejected"
        case .deferred: "deferred"
        case .neverProcessed: "never_processed"
        case .laneStopped: "lane_stopped"
        case .foreign: "foreign_answer"
        case .unknown: "unknown"
        }
    }
}

extension Connector {
    /// The status of an answer that confirms, on a connection that answers each notification by HTTP.
    fileprivate var confirmingStatus: Int? {
        confirmationMode == .perNotification && endpoint.hasPrefix("https://") ? 200 : nil
    }
}
