internal import Holdfast

/// An outcome as the table of outcomes takes it.
struct OutcomeEntry: Encodable {
    let place: UInt64
    let id: String
    let outcome: String
    let reason: String?
    let status: Int32?
    let since: Int64?
    let submittedAt: Int64
    let sentAt: Int64?
    let endedAt: Int64
    let attempts: Int
    let topic: String
    let token: String?
    let channel: String?
    let address: String?
    let producer: String
    let tag: String?
    let context: String?
    let tagBytes: String?
    let contextBytes: String?
    let uniqueID: String?

    private enum CodingKeys: String, CodingKey {
        case place, id, outcome, reason, status, since, attempts, topic, token, channel, address, producer, tag, context
        case submittedAt = "submitted_at"
        case sentAt = "sent_at"
        case endedAt = "ended_at"
        case tagBytes = "tag_bytes"
        case contextBytes = "context_bytes"
        case uniqueID = "unique_id"
    }

    init(_ outcome: Outcome) {
        place = outcome.cursor.rawValue
        id = outcome.id.description
        self.outcome = outcome.terminal.word
        reason = JSONText.plain(outcome.cause?.reason.rawValue)
        status = outcome.cause?.status.flatMap(Int32.init(exactly:))
        since = outcome.cause?.timestamp.map(JSONText.time)
        submittedAt = JSONText.time(outcome.history.acceptedAt)
        sentAt = outcome.history.sentAt.map(JSONText.time)
        endedAt = JSONText.time(outcome.settledAt)
        attempts = outcome.history.attempts
        topic = outcome.topic
        token = outcome.token?.hex
        channel = outcome.recipient.channel?.id
        address = JSONText.plain(outcome.recipient.serviceAddress?.notation)
        producer = JSONText.plain(outcome.producer) ?? ""
        (tag, tagBytes) = Self.text(outcome.tag)
        (context, contextBytes) = Self.text(outcome.context)
        uniqueID = JSONText.plain(outcome.uniqueID)
    }

    /// An application's own bytes, as text where a column of text takes them.
    private static func text(_ bytes: [UInt8]) -> (text: String?, hex: String?) {
        if bytes.isEmpty { return (nil, nil) }
        if !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) { return (text, nil) }
        return (nil, "\\x" + Hex.string(bytes))
    }
}
