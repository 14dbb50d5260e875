internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// A line of `journal export`: an entry with everything that the journal has of it, so that `journal import` makes the same
/// of it again. Times are whole milliseconds since 1970, but for the expiration, which is what Apple makes it: seconds.
enum ExportedEntry {
    /// The names of a line's members, beside those of its headers.
    enum Key: String, CodingKey, CaseIterable {
        case uid, lane, producer, state
        case acceptedAt = "accepted-at"
        case possiblySent = "possibly-sent"
        case attempts
        case lastReason = "last-reason"
        case dueAt = "due-at"
        case rejection
        case retryOf = "retry-of"
        case guarantee
        case tag
        /// Of bytes that are not UTF-8: in hex digits.
        case tagBytes = "tag-hex"
        case context
        /// Of bytes that are not UTF-8: in hex digits.
        case contextBytes = "context-hex"
        /// Absent for none.
        case traceparent, tracestate
        case payload
        /// Absent for JSON.
        case payloadKind = "payload-kind"
        /// Where the bytes are not an object of JSON on one line: in hex digits.
        case payloadBytes = "payload-hex"
    }

    typealias HeaderKey = HeadersForm.CodingKeys
    typealias RecipientKey = RecipientForm.CodingKeys

    /// Google's own form, in place of the address, the topic and the payload. An import reads it, and an export, which is
    /// exact, has the others.
    enum MessageKey: String, CodingKey, CaseIterable { case project, message }

    /// The names of all members that a line may have.
    static let names =
        Key.allCases.map(\.stringValue) + HeaderKey.allCases.map(\.stringValue)
        + RecipientKey.allCases.map(\.stringValue) + MessageKey.allCases.map(\.stringValue)

    enum RejectionKey: String, CodingKey, CaseIterable {
        case reason, status, timestamp
        case rejectedAt = "rejected-at"
    }

    enum State: String, CaseIterable {
        case waiting, deferred, scheduled, rejected
    }

    /// The line of an entry, with its newline.
    ///
    /// - Parameter mayBeSent: whether it may have been sent whatever the journal has of it.
    static func line(_ entry: JournalEntry, mayBeSent: Bool = false) -> [UInt8] {
        var line = JSONLine()
        line.add(Key.uid, entry.uid.rawValue)
        line.add(Key.lane, entry.lane.description)
        line.add(Key.producer, entry.producer)
        addPlace(of: entry, to: &line)
        line.add(Key.acceptedAt, entry.acceptedAt.milliseconds)
        line.add(Key.possiblySent, entry.isPossiblySent || mayBeSent)
        line.add(Key.attempts, entry.attempts)
        line.add(Key.lastReason, entry.lastReason?.rawValue)
        line.add(Key.retryOf, entry.retryOf?.rawValue)
        add(entry.notification, to: &line)
        return line.ended()
    }

    private static func addPlace(of entry: JournalEntry, to line: inout JSONLine) {
        switch entry.state {
        // (What is kept aside is never exported: it is confirmed. Were it, it would have to be one that may come twice.)
        case .neverSent, .possiblySent, .aside:
            line.add(Key.state, State.waiting.rawValue)
        // Whether its tag is paused where it goes, it finds out there.
        case .deferred(let due) where due.isPlaceOfTag: line.add(Key.state, State.waiting.rawValue)
        case .deferred(let due):
            line.add(Key.state, State.deferred.rawValue)
            line.add(Key.dueAt, due.milliseconds)
        case .scheduled(let time):
            line.add(Key.state, State.scheduled.rawValue)
            line.add(Key.dueAt, time.milliseconds)
        case .rejected(let cause):
            line.add(Key.state, State.rejected.rawValue)
            var rejection = JSONLine()
            rejection.add(RejectionKey.reason, cause.reason.rawValue)
            rejection.add(RejectionKey.status, cause.status)
            rejection.add(RejectionKey.timestamp, cause.timestamp?.milliseconds)
            rejection.add(RejectionKey.rejectedAt, cause.rejectedAt.milliseconds)
            line.add(Key.rejection, json: Array(rejection.ended().dropLast()))
        }
    }

    private static func add(_ notification: PushNotification, to line: inout JSONLine) {
        let headers = HeadersForm(notification)
        line.add(HeaderKey.id, headers.id)
        line.add(RecipientKey.token, headers.recipient.token)
        line.add(RecipientKey.channel, headers.recipient.channel)
        line.add(RecipientKey.address, headers.recipient.address)
        line.add(HeaderKey.topic, headers.topic)
        line.add(HeaderKey.pushType, headers.pushType)
        line.add(HeaderKey.priority, headers.priority)
        line.add(HeaderKey.expiration, headers.expiration)
        // Numbers, as all times of a line are; and this one as it was given, since any number of seconds may be.
        line.add(HeaderKey.tryUntil, notification.expiration?.ownDeadline)
        line.add(HeaderKey.collapseID, headers.collapseID)
        line.add(HeaderKey.tokenRegisteredAt, headers.tokenRegisteredAt?.value.milliseconds)
        line.add(HeaderKey.deliverAfter, headers.deliverAfter?.value.milliseconds)
        line.add(HeaderKey.deliverWithin, headers.deliverWithin)
        if notification.newestWins { line.add(HeaderKey.newestWins, true) }
        line.add(Key.guarantee, notification.guarantee.name)
        add(notification.tag, as: Key.tag, or: Key.tagBytes, to: &line)
        add(notification.context, as: Key.context, or: Key.contextBytes, to: &line)
        if let trace = notification.trace {
            line.add(Key.traceparent, trace.traceparent)
            if !trace.tracestate.isEmpty { line.add(Key.tracestate, trace.tracestate) }
        }
        if notification.payloadKind != .json {
            line.add(Key.payloadKind, Int(notification.payloadKind.rawValue))
        }
        if isPlain(notification.payload) {
            line.add(Key.payload, json: notification.payload)
        } else {
            line.add(Key.payloadBytes, Hex.string(notification.payload))
        }
    }

    /// As text if they are, else in hex digits.
    private static func add(_ bytes: [UInt8], as text: Key, or hex: Key, to line: inout JSONLine) {
        if let value = String(validating: bytes, as: UTF8.self) {
            if !value.isEmpty { line.add(text, value) }
        } else {
            line.add(hex, Hex.string(bytes))
        }
    }

    /// Whether the bytes, put into a line as they are, can be taken out of it again as they were.
    private static func isPlain(_ payload: [UInt8]) -> Bool {
        payload.first == UInt8(ascii: "{") && payload.last == UInt8(ascii: "}")
            && !payload.contains { $0 == 0x0A || $0 == 0x0D } && JSONScanner.isObject(payload)
    }
}
