internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// What the owner of a journal is asked to read, beyond what an operator's desk answers.
enum ReadingPath: String, CaseIterable {
    case entries = "/v1/reading/entries"
    case tally = "/v1/reading/tally"
    case blacklist = "/v1/reading/blacklist"
    case blacklisted = "/v1/reading/blacklisted"
    case fates = "/v1/reading/fates"
    case note = "/v1/reading/note"
}

struct EntryPartForm: Codable {
    var entries: [EntryForm]
    /// Absent at the end.
    var end: UInt64?
    var unreadable: [UInt64]?
    /// Why the first of them can't be read.
    var fault: String?

    init(_ part: EntryPart) {
        entries = part.entries.map(EntryForm.init)
        end = part.end?.rawValue
        unreadable = part.unreadable.isEmpty ? nil : part.unreadable.map(\.rawValue)
        fault = part.fault
    }

    func value() throws(ControlError) -> EntryPart {
        EntryPart(
            entries: try entries.map { form throws(ControlError) in try form.value() }, end: end.map { UID($0) },
            unreadable: (unreadable ?? []).map { UID($0) }, fault: fault)
    }
}

struct TallyPartForm: Codable {
    struct Row: Codable {
        var lane: String
        /// Absent for the rest, where topics are too many to tell apart.
        var topic: String?
        var state: String
        var count: Int
        /// In milliseconds since 1970.
        var oldest: Int64

        init(_ tally: EntryTally) {
            (lane, topic, state) = (tally.lane.description, tally.topic, tally.state.rawValue)
            (count, oldest) = (tally.count, tally.oldest.milliseconds)
        }

        func value() throws(ControlError) -> EntryTally {
            guard let state = JournalEntry.StateKind(rawValue: state) else {
                throw ControlError.malformed("there is no state \(self.state.debugDescription)")
            }
            return EntryTally(
                lane: try LaneKey.read(lane), topic: topic, state: state, count: count,
                oldest: WallTime(milliseconds: oldest))
        }
    }

    var rows: [Row]
    /// Absent at the end.
    var end: UInt64?
    /// The UID that the next notification gets.
    var nextUID: UInt64
}

struct BlacklistQuestionForm: Codable {
    /// The last recipient of the page before.
    var after: String?
    var limit: Int
}

struct BlacklistPageForm: Codable {
    var entries: [BlacklistForm]
    /// Recipients whose records can't be read; absent for none.
    var unreadable: Int?
}

struct RecipientsForm: Codable {
    var recipients: [String]
}

/// For each recipient that was asked for, its entries.
struct RecipientsFoundForm: Codable {
    var found: [[BlacklistForm]]
}
