internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Entries of a journal for people.
extension EntryRow {
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
        PaddedColumns.line(cells, [10, 13, 33, 15, 24, 20, 0])
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
