internal import Foundation
package import Holdfast

/// How one notification ended, for every way on which outcomes are told: this socket, `--json` of the tool, the admin listener.
package struct OutcomeForm: Codable, Hashable, Sendable {
    /// Its place in the order in which notifications ended; absent for a rejection that the log does not have.
    package var cursor: UInt64?
    package var uid: UInt64
    package var id: String
    package var recipient: RecipientForm
    package var topic: String
    package var producer: String
    /// The application's tag and its context; absent where there are none.
    package var tag: BytesForm?
    package var context: BytesForm?
    /// How it ended, in one word.
    package var outcome: OutcomeWord
    /// Of a rejection: the service's word, or ours. Of an unknown outcome: `Withdrawn` if it was taken back while in flight.
    package var reason: String?
    /// The service's status of a rejection.
    package var status: Int?
    /// Since when the service knows what it says of the token.
    package var timestamp: ExactTime?
    package var acceptedAt: ExactTime
    /// When the last attempt was sent; absent where none was, or nobody knows.
    package var sentAt: ExactTime?
    package var endedAt: ExactTime
    package var attempts: Int
    package var uniqueID: String?
    /// Where the history keeps payloads.
    package var payload: [UInt8]?
    /// What the outcome means, in a sentence without its full stop.
    package var meaning: String
    /// The whole story in sentences, where somebody asked for single ones.
    package var words: String?

    private enum CodingKeys: String, CodingKey {
        case cursor, uid, producer, outcome, reason, status, timestamp, acceptedAt, sentAt, endedAt, attempts, meaning,
            words
        case id = "apns-id"
        case topic = "apns-topic"
        case uniqueID = "apns-unique-id"
        case payload = "payload-base64"
    }

    /// - Parameters:
    ///   - isWhole: whether to give the token whole, or shortened for display.
    ///   - tellsStory: whether to tell it in sentences.
    package init(_ outcome: Outcome, isWhole: Bool = true, tellsStory: Bool = false) {
        let story = OutcomeStory(outcome)
        cursor = outcome.cursor == .start ? nil : outcome.cursor.rawValue
        uid = outcome.uid.rawValue
        id = outcome.id.description
        recipient = RecipientForm(outcome.recipient, isWhole: isWhole)
        topic = outcome.topic
        producer = outcome.producer
        tag = BytesForm(outcome.tag)
        context = BytesForm(outcome.context)
        let end = EndForm(outcome.terminal)
        (self.outcome, reason) = (end.outcome, end.reason ?? outcome.cause?.reason.rawValue)
        status = outcome.cause?.status
        timestamp = outcome.cause?.timestamp.map(ExactTime.init)
        acceptedAt = ExactTime(outcome.history.acceptedAt)
        sentAt = outcome.history.sentAt.map(ExactTime.init)
        endedAt = ExactTime(outcome.settledAt)
        attempts = outcome.history.attempts
        uniqueID = outcome.uniqueID
        payload = outcome.payload.isEmpty ? nil : outcome.payload
        meaning = story.meaning
        words = tellsStory ? story.text() : nil
    }

    package init(from decoder: any Decoder) throws {
        recipient = try RecipientForm(from: decoder)
        tag = try BytesForm(from: decoder, TagKeys.self)
        context = try BytesForm(from: decoder, ContextKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        cursor = try values.decodeIfPresent(UInt64.self, forKey: .cursor)
        uid = try values.decode(UInt64.self, forKey: .uid)
        id = try values.decode(String.self, forKey: .id)
        topic = try values.decode(String.self, forKey: .topic)
        producer = try values.decode(String.self, forKey: .producer)
        outcome = try values.decode(OutcomeWord.self, forKey: .outcome)
        reason = try values.decodeIfPresent(String.self, forKey: .reason)
        status = try values.decodeIfPresent(Int.self, forKey: .status)
        timestamp = try values.decodeIfPresent(ExactTime.self, forKey: .timestamp)
        acceptedAt = try values.decode(ExactTime.self, forKey: .acceptedAt)
        sentAt = try values.decodeIfPresent(ExactTime.self, forKey: .sentAt)
        endedAt = try values.decode(ExactTime.self, forKey: .endedAt)
        attempts = try values.decode(Int.self, forKey: .attempts)
        uniqueID = try values.decodeIfPresent(String.self, forKey: .uniqueID)
        payload = try values.decodeIfPresent(Data.self, forKey: .payload).map { Array($0) }
        meaning = try values.decode(String.self, forKey: .meaning)
        words = try values.decodeIfPresent(String.self, forKey: .words)
    }

    /// In one object.
    package func encode(to encoder: any Encoder) throws {
        try recipient.encode(to: encoder)
        try tag?.encode(to: encoder, TagKeys.self)
        try context?.encode(to: encoder, ContextKeys.self)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(cursor, forKey: .cursor)
        try values.encode(uid, forKey: .uid)
        try values.encode(id, forKey: .id)
        try values.encode(topic, forKey: .topic)
        try values.encode(producer, forKey: .producer)
        try values.encode(outcome, forKey: .outcome)
        try values.encodeIfPresent(reason, forKey: .reason)
        try values.encodeIfPresent(status, forKey: .status)
        try values.encodeIfPresent(timestamp, forKey: .timestamp)
        try values.encode(acceptedAt, forKey: .acceptedAt)
        try values.encodeIfPresent(sentAt, forKey: .sentAt)
        try values.encode(endedAt, forKey: .endedAt)
        try values.encode(attempts, forKey: .attempts)
        try values.encodeIfPresent(uniqueID, forKey: .uniqueID)
        try values.encodeIfPresent(payload.map { Data($0) }, forKey: .payload)
        try values.encode(meaning, forKey: .meaning)
        try values.encodeIfPresent(words, forKey: .words)
    }

    func value() throws(ControlError) -> Outcome {
        guard let id = NotificationID(id) else { throw .malformed("an outcome has no apns-id that is a UUID") }
        let terminal = try EndForm(outcome: outcome, reason: reason).value()
        var cause: RejectionCause?
        if let reason {
            cause = RejectionCause(
                reason: Reason(rawValue: reason), status: status, timestamp: timestamp?.value,
                rejectedAt: endedAt.value)
        }
        return Outcome(
            cursor: OutcomeCursor(cursor ?? 0), uid: UID(uid), terminal: terminal, cause: cause,
            history: DeliveryHistory(
                acceptedAt: acceptedAt.value, sentAt: sentAt?.value, settledAt: endedAt.value, attempts: attempts),
            id: id, recipient: try recipient.value(), topic: topic, producer: producer, tag: tag?.bytes ?? [],
            context: context?.bytes ?? [], uniqueID: uniqueID, payload: payload ?? [])
    }
}

/// The two keys of an application's bytes, one for text and one for anything else.
package protocol BytesKeys: CodingKey {
    static var text: Self { get }
    static var base64: Self { get }
}

enum TagKeys: String, BytesKeys {
    case text = "tag"
    case base64 = "tag-base64"
}

enum ContextKeys: String, BytesKeys {
    case text = "context"
    case base64 = "context-base64"
}

/// An application's own bytes: as text where they are UTF-8, else in base64 under a key of its own.
package struct BytesForm: Hashable, Sendable {
    package var bytes: [UInt8]

    /// - Returns: nil for no bytes.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }

    init(whole bytes: [UInt8]) { self.bytes = bytes }

    /// - Returns: nil where neither key is.
    init?<Keys: BytesKeys>(from decoder: any Decoder, _: Keys.Type) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        if let text = try values.decodeIfPresent(String.self, forKey: .text) {
            bytes = Array(text.utf8)
        } else if let data = try values.decodeIfPresent(Data.self, forKey: .base64) {
            bytes = Array(data)
        } else {
            return nil
        }
    }

    func encode<Keys: BytesKeys>(to encoder: any Encoder, _: Keys.Type) throws {
        var values = encoder.container(keyedBy: Keys.self)
        if let text = String(validating: bytes, as: UTF8.self) {
            try values.encode(text, forKey: .text)
        } else {
            try values.encode(Data(bytes), forKey: .base64)
        }
    }

    /// For people.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
