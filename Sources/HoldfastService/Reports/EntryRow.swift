package import Holdfast
package import HoldfastControl
package import HoldfastJournal

/// One entry of a journal as it is listed, with Apple's own names where Apple has one. The coding keys are those of the
/// JSON.
package struct EntryRow: Encodable, Sendable {
    /// `nil` for the journal that the command is about.
    package var place: FleetPlaceForm?
    package var uid: UInt64
    package var state: String
    package var lane: String
    package var producer: String
    /// Whether an attempt of it may have reached the service, whatever its state.
    package var isPossiblySent: Bool
    package var attempts: Int
    /// The rejection that an operator sent again as this entry.
    package var retryOf: UInt64?
    package var acceptedAt: String
    package var dueAt: String?
    /// The time from which it may be delivered.
    package var scheduledFor: String?
    /// Since when it is kept aside, as confirmed by silence.
    package var asideSince: String?
    /// Of what was tried last, where it is not rejected.
    package var lastReason: String?
    /// Of a rejected one.
    package var cause: CauseForm?
    package var headers: HeadersForm
    package var tag: String?
    package var contextBytes: Int?
    package var payloadBytes: Int
    package private(set) var accepted: WallTime
    /// In `show`: where it stands in a few words, and what that means, sentence by sentence.
    package var summary: String?
    package var explanation: [String]?
    /// Only when it is to be revealed.
    package private(set) var payload: [UInt8]?
    package private(set) var context: [UInt8]?

    enum CodingKeys: String, CodingKey {
        case uid, state, lane, producer, attempts, acceptedAt, dueAt, scheduledFor, asideSince, tag, contextBytes,
            payloadBytes, summary,
            explanation
        case retryOf
        case isPossiblySent = "possiblySent"
        case lastReason = "reason"
    }

    /// In one object.
    package func encode(to encoder: any Encoder) throws {
        try headers.encode(to: encoder)
        try cause?.encode(to: encoder)
        try place?.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(uid, forKey: .uid)
        try container.encode(state, forKey: .state)
        try container.encode(lane, forKey: .lane)
        try container.encode(producer, forKey: .producer)
        try container.encode(isPossiblySent, forKey: .isPossiblySent)
        try container.encode(attempts, forKey: .attempts)
        try container.encode(acceptedAt, forKey: .acceptedAt)
        try container.encode(payloadBytes, forKey: .payloadBytes)
        try container.encodeIfPresent(lastReason, forKey: .lastReason)
        try container.encodeIfPresent(retryOf, forKey: .retryOf)
        try container.encodeIfPresent(dueAt, forKey: .dueAt)
        try container.encodeIfPresent(scheduledFor, forKey: .scheduledFor)
        try container.encodeIfPresent(asideSince, forKey: .asideSince)
        try container.encodeIfPresent(tag, forKey: .tag)
        try container.encodeIfPresent(contextBytes, forKey: .contextBytes)
        try container.encodeIfPresent(summary, forKey: .summary)
        try container.encodeIfPresent(explanation, forKey: .explanation)
    }

    package var reason: String? { cause?.reason ?? lastReason }

    package init(_ entry: JournalEntry, explanation: EntryExplanation? = nil, reveal: Bool) {
        summary = explanation?.summary
        self.explanation = explanation?.sentences
        isPossiblySent = entry.isPossiblySent
        retryOf = entry.retryOf?.rawValue
        let notification = entry.notification
        uid = entry.uid.rawValue
        lane = entry.lane.description
        producer = entry.producer
        state = Self.name(entry.state.kind)
        attempts = entry.attempts
        accepted = entry.acceptedAt
        acceptedAt = Timestamp.format(entry.acceptedAt)
        // The state says it.
        lastReason = entry.lastReason == .scheduled ? nil : entry.lastReason?.rawValue
        switch entry.state {
        case .neverSent, .possiblySent: break
        case .deferred(let due):
            // One that waits for its topic or its tag has no time.
            dueAt = due.isPlaceOfTopic || due.isPlaceOfTag ? nil : Timestamp.format(due)
        case .scheduled(let time): scheduledFor = Timestamp.format(time)
        case .aside(let since): asideSince = Timestamp.format(since)
        case .rejected(let cause):
            self.cause = CauseForm(cause)
            // The cause says it.
            lastReason = nil
        }
        headers = HeadersForm(notification, isWhole: reveal)
        tag = notification.tag.isEmpty ? nil : String(decoding: notification.tag, as: UTF8.self)
        contextBytes = notification.context.isEmpty ? nil : notification.context.count
        context = reveal && contextBytes != nil ? notification.context : nil
        payloadBytes = notification.payload.count
        payload = reveal ? notification.payload : nil
    }

    /// The word for a state in listings, JSON and `--state`.
    package static func name(_ state: JournalEntry.StateKind) -> String {
        switch state {
        case .neverSent: "never-sent"
        case .possiblySent: "possibly-sent"
        case .deferred: "deferred"
        case .scheduled: "scheduled"
        case .aside: "aside"
        case .rejected: "rejected"
        }
    }

    /// One line. A revealed payload is in it as it was written where that is one line of JSON, else as a string.
    package func json() throws -> String {
        let line = try Form.text(self)
        guard let payload else { return line }
        let isOneLine = !payload.contains(0x0A) && !payload.contains(0x0D) && JSONScanner.isObject(payload)
        let text = String(decoding: payload, as: UTF8.self)
        return "\(line.dropLast()),\"payload\":\(isOneLine ? text : try Form.text(text))}"
    }
}
