internal import Foundation
package import Holdfast

/// Entries of another journal, and the note to write with them.
struct RestoreForm: Codable {
    struct Note: Codable {
        var name: String
        var value: Data
        /// With `isChecked`, the value that the note must have had before; absent for none.
        var before: Data?
        var isChecked: Bool?

        init(_ note: RestoreNote) {
            (name, value) = (note.name, Data(note.value))
            before = note.before.map { Data($0) }
            isChecked = note.isChecked ? true : nil
        }

        func noteValue() -> RestoreNote {
            isChecked == true
                ? RestoreNote(name: name, value: Array(value), before: before.map { Array($0) })
                : RestoreNote(name: name, value: Array(value))
        }
    }

    var entries: [RestoredForm]
    var note: Note?

    init(_ entries: [RestoredEntry], _ note: RestoreNote?) {
        self.entries = entries.map(RestoredForm.init)
        self.note = note.map(Note.init)
    }

    func values() throws(ControlError) -> [RestoredEntry] {
        try OperatorDeskLimits.check(entries.count)
        var values: [RestoredEntry] = []
        for entry in entries { values.append(try entry.value()) }
        return values
    }

    func noteValue() -> RestoreNote? { note.map { $0.noteValue() } }
}

struct RestoredForm: Codable {
    var lane: String
    var producer: String
    var notification: NotificationForm
    var acceptedAt: ExactTime
    var attempts: UInt16
    var possiblySent: Bool
    var lastReason: String?
    /// Absent unless it is deferred.
    var dueAt: ExactTime?
    /// Absent unless it is a rejection.
    var rejection: CauseForm?
    var retryOf: UInt64?

    init(_ entry: RestoredEntry) {
        lane = entry.lane.description
        producer = entry.producer
        notification = NotificationForm(entry.notification)
        acceptedAt = ExactTime(entry.acceptedAt)
        attempts = entry.history.attempts
        possiblySent = entry.history.isPossiblySent
        lastReason = entry.history.lastReason?.rawValue
        switch entry.history.place {
        case .waiting: break
        case .deferred(let due): dueAt = ExactTime(due)
        case .rejected(let cause): rejection = CauseForm(cause)
        }
        retryOf = entry.retryOf?.rawValue
    }

    func value() throws(ControlError) -> RestoredEntry {
        let place: EntryHistory.Place =
            if let rejection {
                .rejected(rejection.value())
            } else if let dueAt {
                .deferred(until: dueAt.value)
            } else {
                .waiting
            }
        return RestoredEntry(
            lane: try LaneKey.read(lane), producer: producer, notification: try notification.value(),
            acceptedAt: acceptedAt.value,
            history: EntryHistory(
                place: place, attempts: attempts, isPossiblySent: possiblySent,
                lastReason: lastReason.map(Reason.init(rawValue:))),
            retryOf: retryOf.map { UID($0) })
    }
}

/// The reason and the time of a rejection.
package struct CauseForm: Codable, Hashable, Sendable {
    package var reason: String
    package var status: Int?
    package var timestamp: ExactTime?
    package var rejectedAt: ExactTime

    package init(_ cause: RejectionCause) {
        reason = cause.reason.rawValue
        status = cause.status
        timestamp = cause.timestamp.map(ExactTime.init)
        rejectedAt = ExactTime(cause.rejectedAt)
    }

    /// The same as the journal has it.
    package func value() -> RejectionCause {
        RejectionCause(
            reason: Reason(rawValue: reason), status: status, timestamp: timestamp?.value, rejectedAt: rejectedAt.value)
    }
}
