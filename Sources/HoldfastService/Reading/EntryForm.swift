internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// An entry of a journal, whole.
struct EntryForm: Codable, Sendable {
    var uid: UInt64
    var lane: String
    var producer: String
    var state: String
    /// Of one that is deferred, scheduled or kept aside, in milliseconds since 1970: until, for and since when.
    var time: Int64?
    var rejection: CauseForm?
    var possiblySent: Bool
    var attempts: Int
    /// In milliseconds since 1970.
    var acceptedAt: Int64
    var lastReason: String?
    var retryOf: UInt64?
    var notification: NotificationForm

    init(_ entry: JournalEntry) {
        uid = entry.uid.rawValue
        lane = entry.lane.description
        producer = entry.producer
        state = entry.state.kind.rawValue
        switch entry.state {
        case .neverSent, .possiblySent: break
        case .deferred(let until): time = until.milliseconds
        case .scheduled(let start): time = start.milliseconds
        case .aside(let since): time = since.milliseconds
        case .rejected(let cause): rejection = CauseForm(cause)
        }
        possiblySent = entry.isPossiblySent
        attempts = entry.attempts
        acceptedAt = entry.acceptedAt.milliseconds
        lastReason = entry.lastReason?.rawValue
        retryOf = entry.retryOf?.rawValue
        notification = NotificationForm(entry.notification)
    }

    func value() throws(ControlError) -> JournalEntry {
        JournalEntry(
            uid: UID(uid), lane: try LaneKey.read(lane), producer: producer, state: try stateValue(),
            isPossiblySent: possiblySent, attempts: attempts, acceptedAt: WallTime(milliseconds: acceptedAt),
            lastReason: lastReason.map(Reason.init(rawValue:)), retryOf: retryOf.map { UID($0) },
            notification: try notification.value())
    }

    private func stateValue() throws(ControlError) -> JournalEntry.State {
        let time = WallTime(milliseconds: time ?? 0)
        switch (JournalEntry.StateKind(rawValue: state), rejection) {
        case (.neverSent?, _): return .neverSent
        case (.possiblySent?, _): return .possiblySent
        case (.deferred?, _): return .deferred(until: time)
        case (.scheduled?, _): return .scheduled(for: time)
        case (.aside?, _): return .aside(since: time)
        case (.rejected?, let cause?): return .rejected(cause.value())
        default: throw ControlError.malformed("entry \(uid) has no state that this program knows")
        }
    }
}
