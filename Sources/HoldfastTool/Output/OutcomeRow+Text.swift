internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Ended notifications for people: as a line of a table, or with all that is known of one.
extension OutcomeRow {
    // MARK: A table

    private static let widths = [10, 13, 15, 24, 20, 24, 0]

    static let heading = PaddedColumns.line(
        ["UID", "OUTCOME", "RECIPIENT", "TOPIC", "ACCEPTED", "ENDED", "NOTE"], widths)

    func line() -> String {
        let note = [
            form.reason, form.status.map { "status \($0)" },
            form.attempts > 1 ? Format.plural(form.attempts, "attempt") : nil, form.tag.map { "tag \($0.text)" },
        ]
        return Self.line(
            uid: form.uid, form.outcome.rawValue, form.recipient, form.topic, accepted: outcome.history.acceptedAt,
            ended: form.endedAt.text, note)
    }

    /// A line of the same table, for a notification that has not ended or whose end is kept elsewhere.
    static func line(_ entry: JournalEntryFacts) -> String {
        line(
            uid: entry.uid, entry.state, entry.recipient, entry.topic, accepted: entry.acceptedAt,
            ended: entry.endedAt ?? "",
            [entry.reason, entry.tag.map { "tag \($0)" }])
    }

    private static func line(
        uid: UInt64, _ state: String, _ recipient: RecipientForm, _ topic: String, accepted: WallTime, ended: String,
        _ note: [String?]
    ) -> String {
        PaddedColumns.line(
            [
                String(uid), state, recipient.shortText, topic.printable(maximumLength: 64),
                // To the second is enough for a table.
                Timestamp.format(WallTime(seconds: accepted.seconds)), ended,
                note.compactMap { $0?.printable(maximumLength: 80) }.joined(separator: ", "),
            ], widths)
    }

    // MARK: One alone

    /// What became of it in sentences, and all that is known.
    ///
    /// - Parameter explanation: of it.
    func text(_ explanation: EntryExplanation) -> String { "\(explanation.text(of: outcome.uid))\n\n\(facts)" }

    private var facts: String {
        let rows: [(String, String?)] = [
            ("uid", String(form.uid)), ("cursor", form.cursor.map { String($0) }),
            ("producer", form.producer),
            ("attempts", String(form.attempts)), ("accepted", form.acceptedAt.text), ("sent", form.sentAt?.text),
            ("ended", form.endedAt.text), ("reason", form.reason), ("status", form.status.map { String($0) }),
            ("timestamp", form.timestamp?.text), ("apns-id", form.id), ("apns-unique-id", form.uniqueID),
            ("token", form.recipient.token), ("apns-channel-id", form.recipient.channel),
            ("address", form.recipient.address), ("apns-topic", form.topic), ("tag", form.tag?.text),
            ("context", form.context?.text ?? (outcome.context.isEmpty ? nil : Format.bytes(outcome.context.count))),
            ("payload", form.payload.map { String(decoding: $0, as: UTF8.self) }),
        ]
        return NamedRows.text(rows)
    }
}

/// What a table of found notifications shows of an entry of the journal.
struct JournalEntryFacts {
    var uid: UInt64
    var state: String
    var recipient: RecipientForm
    var topic: String
    var acceptedAt: WallTime
    var endedAt: String?
    var reason: String?
    var tag: String?
}

extension RecipientForm {
    /// Shortened to fit a column.
    var shortText: String { channel.map { $0.count > 10 ? "\($0.prefix(9))…" : $0 } ?? text }
}

/// Columns of fixed widths, for tables that are printed page by page.
enum PaddedColumns {
    static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = zip(cells, widths).map { cell, width in
            cell + String(repeating: " ", count: max(0, width - cell.count))
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}

/// Facts with their names, one a line; those without a value are left out.
enum NamedRows {
    static func text(_ rows: [(String, String?)]) -> String {
        rows.compactMap { name, value in
            value.map {
                "  \(name)" + String(repeating: " ", count: 21 - name.count) + $0.printable(maximumLength: 8192)
            }
        }.joined(separator: "\n")
    }
}
