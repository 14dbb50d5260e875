/// What became of one submitted notification.
public enum Receipt: Sendable {
    /// On disk, at the journal's durability level. From now on it is never lost.
    case accepted(UID)
    /// The same notification was accepted before, under this UID, and has met its end. (While it has not, a repeat is
    /// answered as ``accepted(_:)`` with that UID.) Only for notifications that carry an apns-id of their sender's.
    case repeated(UID, TerminalOutcome)
    /// Not taken, and nothing of it is in the journal.
    ///
    /// (Apart from the others in memory: a receipt would be four times as large for what hardly ever happens.)
    indirect case refused(Refusal)
    /// The commit failed at a point after which nobody can say whether it is on disk; reopening the journal tells.
    case undetermined(JournalError)

    /// The UID of an accepted notification, now or before.
    public var uid: UID? {
        switch self {
        case .accepted(let uid), .repeated(let uid, _): uid
        case .refused, .undetermined: nil
        }
    }

    /// The UID, or the refusal or the journal's error thrown.
    public func get() throws -> UID {
        switch self {
        case .accepted(let uid), .repeated(let uid, _): uid
        case .refused(let refusal): throw refusal
        case .undetermined(let error): throw error
        }
    }
}

/// Why a notification was not taken: in Apple's words where Apple would refuse it.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// Apple's reason, or one of Holdfast's own.
    public let reason: Reason
    /// What is wrong with what, for people. Holds no token and no payload.
    public let detail: String
    /// With ``Reason/blacklisted``: why, and since when.
    public let blacklistEntry: BlacklistEntry?

    /// Creates a refusal. `detail` must hold no token and no payload.
    public init(_ reason: Reason, _ detail: String, blacklistEntry: BlacklistEntry? = nil) {
        self.reason = reason
        self.detail = detail
        self.blacklistEntry = blacklistEntry
    }

    /// The reason and the detail.
    public var description: String { "\(reason): \(detail)" }
}
