internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// One entry of a journal as it is listed, with Apple's own names where Apple has one. The coding keys are those of the
/// JSON.
struct EntryRow: Encodable {
    /// `nil` for the journal that the command is about.
    var place: FleetPlaceForm?
    var uid: UInt64
    var state: String
    var lane: String
    var producer: String
    /// Whether an attempt of it may have reached the service, whatever its state.
    var isPossiblySent: Bool
    var attempts: Int
    /// The rejection that an operator sent again as this entry.
    var retryOf: UInt64?
    var acceptedAt: String
    var dueAt: String?
    /// The time from which it may be delivered.
    var scheduledFor: String?
    /// Since when it is kept aside, as confirmed by silence.
    var asideSince: String?
    /// Of what was tried last, where it is not rejected.
    var lastReason: String?
    /// Of a rejected one.
    var cause: CauseForm?
    var headers: HeadersForm
    var tag: String?
    var contextBytes: Int?
    var payloadBytes: Int
    private var accepted: WallTime
    /// In `show`: where it stands in a few words, and what that means, sentence by sentence.
    var summary: String?
    var explanation: [String]?
    /// Only when it is to be revealed.
    private var payload: [UInt8]?
    private var context: [UInt8]?

    enum CodingKeys: String, CodingKey {
        case uid, state, lane, producer, attempts, acceptedAt, dueAt, scheduledFor, asideSince, tag, contextBytes,
            payloadBytes, summary,
            explanation
        case retryOf
        case isPossiblySent = "possiblySent"
        case lastReason = "reason"
    }

    /// In one object.
    func encode(to encoder: any Encoder) throws {
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

    private var reason: String? { cause?.reason ?? lastReason }

    init(_ entry: JournalEntry, explanation: EntryExplanation? = nil, reveal: Bool) {
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
    static func name(_ state: JournalEntry.StateKind) -> String {
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
    func json() throws -> String {
        let line = try JSONOutput.line(self)
        guard let payload else { return line }
        let isOneLine = !payload.contains(0x0A) && !payload.contains(0x0D) && JSONScanner.isObject(payload)
        let text = String(decoding: payload, as: UTF8.self)
        return "\(line.dropLast()),\"payload\":\(isOneLine ? text : try JSONOutput.line(text))}"
    }

    static let heading = columns("UID", "STATE", "LANE", "RECIPIENT", "TOPIC", "ACCEPTED", "NOTE")

    func line() -> String {
        let note = [
            reason, dueAt.map { "due \($0)" }, scheduledFor.map { "from \($0) on" },
            asideSince.map { "confirmed by silence, kept aside since \($0)" },
            attempts > 0 ? Format.plural(attempts, "attempt") : nil,
        ]
        return Self.columns(
            String(uid), state, lane.printable(maximumLength: 80),
            headers.recipient.shortText,
            headers.topic.printable(maximumLength: 64),
            // To the second is enough for a table.
            Timestamp.format(WallTime(seconds: accepted.seconds)),
            note.compactMap { $0?.printable(maximumLength: 80) }.joined(separator: ", "))
    }

    private static func columns(_ cells: String...) -> String {
        PaddedColumns.line(cells, [10, 13, 33, 10, 24, 20, 0])
    }

    /// What a table of found notifications shows of it.
    var facts: JournalEntryFacts {
        JournalEntryFacts(
            uid: uid, state: state, recipient: headers.recipient, topic: headers.topic, acceptedAt: accepted,
            endedAt: cause?.rejectedAt.text, reason: reason, tag: tag)
    }

    /// Below a headline that says its state.
    func text() -> String {
        let rows: [(String, String?)] = [
            ("uid", String(uid)), ("lane", lane), ("producer", producer),
            ("attempts", String(attempts)),
            ("accepted", acceptedAt), ("retry of", retryOf.map { String($0) }),
            ("due", dueAt), ("scheduled for", scheduledFor), ("kept aside since", asideSince), ("reason", reason),
            ("status", cause?.status.map { String($0) }),
            ("rejected", cause?.rejectedAt.text), ("timestamp", cause?.timestamp?.text), ("apns-id", headers.id),
            ("token", headers.recipient.token), ("apns-channel-id", headers.recipient.channel),
            ("address", headers.recipient.address),
            ("apns-topic", headers.topic),
            ("apns-push-type", headers.pushType), ("apns-priority", headers.priority.map { String($0) }),
            ("apns-expiration", headers.expiration.map { String($0) }), ("try-until", headers.tryUntil?.text),
            ("apns-collapse-id", headers.collapseID), ("token-registered-at", headers.tokenRegisteredAt?.text),
            ("deliver-after", headers.deliverAfter?.text), ("deliver-within", headers.deliverWithin),
            ("newest-wins", headers.newestWins.map { "\($0)" }), ("tag", tag),
            ("context", contextBytes.map { context.map { String(decoding: $0, as: UTF8.self) } ?? Format.bytes($0) }),
            ("payload", payload.map { String(decoding: $0, as: UTF8.self) } ?? Format.bytes(payloadBytes)),
        ]
        return NamedRows.text(rows)
    }
}
