internal import Holdfast
internal import HoldfastJournal

/// A line of `journal export`: an entry with everything that the journal has of it, so that `journal import` makes the same
/// of it again. Times are whole milliseconds since 1970, but for the expiration, which is what Apple makes it: seconds.
enum ExportedEntry {
    /// The names of a line's members.
    enum Key: String, CaseIterable {
        case uid, lane, producer, state
        case acceptedAt = "accepted-at"
        case possiblySent = "possibly-sent"
        case attempts
        case lastReason = "last-reason"
        case dueAt = "due-at"
        case rejection
        case retryOf = "retry-of"
        case id = "apns-id"
        /// One of the three.
        case token, channel, address
        case topic = "apns-topic"
        case pushType = "apns-push-type"
        case priority = "apns-priority"
        case expiration = "apns-expiration"
        /// Where the service is to store nothing, and it is tried all the same.
        case tryUntil = "try-until"
        case collapseID = "apns-collapse-id"
        case tokenRegisteredAt = "token-registered-at"
        case guarantee
        case tag
        /// Of bytes that are not UTF-8: in hex digits.
        case tagBytes = "tag-hex"
        case payload
        /// Absent for JSON.
        case payloadKind = "payload-kind"
        /// Where the bytes are not an object of JSON on one line: in hex digits.
        case payloadBytes = "payload-hex"
    }

    enum RejectionKey: String, CaseIterable {
        case reason, status, timestamp
        case rejectedAt = "rejected-at"
    }

    enum State: String, CaseIterable {
        case waiting, deferred, rejected
    }

    /// The line of an entry, with its newline.
    static func line(_ entry: JournalEntry) -> [UInt8] {
        var line = JSONLine()
        line.add(Key.uid.rawValue, entry.uid.rawValue)
        line.add(Key.lane.rawValue, entry.lane.description)
        line.add(Key.producer.rawValue, entry.producer)
        addPlace(of: entry, to: &line)
        line.add(Key.acceptedAt.rawValue, entry.acceptedAt.milliseconds)
        line.add(Key.possiblySent.rawValue, entry.isPossiblySent)
        line.add(Key.attempts.rawValue, entry.attempts)
        line.add(Key.lastReason.rawValue, entry.lastReason?.rawValue)
        line.add(Key.retryOf.rawValue, entry.retryOf?.rawValue)
        add(entry.notification, to: &line)
        return line.ended()
    }

    private static func addPlace(of entry: JournalEntry, to line: inout JSONLine) {
        switch entry.state {
        // (What is kept aside is never exported: it is confirmed. Were it, it would have to be one that may come twice.)
        case .neverSent, .possiblySent, .aside:
            line.add(Key.state.rawValue, State.waiting.rawValue)
        case .deferred(let due):
            line.add(Key.state.rawValue, State.deferred.rawValue)
            line.add(Key.dueAt.rawValue, due.milliseconds)
        case .rejected(let cause):
            line.add(Key.state.rawValue, State.rejected.rawValue)
            var rejection = JSONLine()
            rejection.add(RejectionKey.reason.rawValue, cause.reason.rawValue)
            rejection.add(RejectionKey.status.rawValue, cause.status)
            rejection.add(RejectionKey.timestamp.rawValue, cause.timestamp?.milliseconds)
            rejection.add(RejectionKey.rejectedAt.rawValue, cause.rejectedAt.milliseconds)
            line.add(Key.rejection.rawValue, json: Array(rejection.ended().dropLast()))
        }
    }

    private static func add(_ notification: PushNotification, to line: inout JSONLine) {
        line.add(Key.id.rawValue, notification.id?.description)
        line.add(Key.token.rawValue, notification.token?.hex)
        line.add(Key.channel.rawValue, notification.recipient.channel?.id)
        line.add(Key.address.rawValue, notification.recipient.serviceAddress?.notation)
        line.add(Key.topic.rawValue, notification.topic)
        line.add(Key.pushType.rawValue, notification.pushType?.rawValue)
        line.add(Key.priority.rawValue, notification.priority?.rawValue)
        line.add(Key.expiration.rawValue, notification.expiration?.unixSeconds)
        line.add(Key.tryUntil.rawValue, notification.expiration?.ownDeadline)
        line.add(Key.collapseID.rawValue, notification.collapseID)
        line.add(Key.tokenRegisteredAt.rawValue, notification.tokenRegisteredAt?.milliseconds)
        line.add(Key.guarantee.rawValue, notification.guarantee.name)
        if let tag = String(validating: notification.tag, as: UTF8.self) {
            if !tag.isEmpty { line.add(Key.tag.rawValue, tag) }
        } else {
            line.add(Key.tagBytes.rawValue, Hex.string(notification.tag))
        }
        if notification.payloadKind != .json {
            line.add(Key.payloadKind.rawValue, Int(notification.payloadKind.rawValue))
        }
        if isPlain(notification.payload) {
            line.add(Key.payload.rawValue, json: notification.payload)
        } else {
            line.add(Key.payloadBytes.rawValue, Hex.string(notification.payload))
        }
    }

    /// Whether the bytes, put into a line as they are, can be taken out of it again as they were.
    private static func isPlain(_ payload: [UInt8]) -> Bool {
        payload.first == UInt8(ascii: "{") && payload.last == UInt8(ascii: "}")
            && !payload.contains { $0 == 0x0A || $0 == 0x0D } && JSONScanner.isObject(payload)
    }
}
