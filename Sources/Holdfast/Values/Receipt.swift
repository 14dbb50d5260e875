/// The result of submitting one notification. There are these four, and no case is added.
public enum Receipt: Sendable {
    /// The notification is on disk, at the journal's durability level, and will not be lost.
    case accepted(UID)
    /// The notification was accepted before, under this UID, and has ended so. (Before it ends, a repeat is
    /// ``accepted(_:)`` with that UID.) Only for notifications with their sender's `apns-id`.
    case repeated(UID, TerminalOutcome)
    /// The notification was refused, and nothing of it is in the journal.
    ///
    /// (Indirect, since receipts would be four times as large for a rare case.)
    indirect case refused(Refusal)
    /// The commit failed at a point after which it is unknown whether it is on disk. Reopening the journal tells.
    case undetermined(JournalError)

    /// The UID of a notification accepted now or before; `nil` for any other.
    public var uid: UID? {
        switch self {
        case .accepted(let uid), .repeated(let uid, _): uid
        case .refused, .undetermined: nil
        }
    }

    /// Returns the UID.
    ///
    /// - Throws: the ``Refusal``, or the ``JournalError`` of an undetermined commit.
    public func get() throws -> UID {
        switch self {
        case .accepted(let uid), .repeated(let uid, _): uid
        case .refused(let refusal): throw refusal
        case .undetermined(let error): throw error
        }
    }
}

/// Why a notification was refused: with Apple's reason if Apple would refuse it.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// Apple's reason, or one of Holdfast's own.
    public let reason: Reason
    /// The problem in words. Holds no token and no payload.
    public let detail: String
    /// With ``Reason/blacklisted``: the entry that forbids sending.
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

extension Refusal {
    /// Whether the journal takes nothing just now, and will again by itself.
    package var isForNow: Bool { [.journalFull, .journalUnreachable].contains(reason) }
}
