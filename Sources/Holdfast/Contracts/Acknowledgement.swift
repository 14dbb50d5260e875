/// An entry that the service took. Opaque outside of this package.
public struct Acknowledgement: Hashable, Sendable {
    package let lane: LaneID
    /// How long before ``SettlementBatch/settledAt`` it was handed out.
    package let sentAgo: SentAgo
    package let uid: UID

    package init(_ key: EntryKey, sentAgo: SentAgo = .unknown) {
        lane = key.lane
        uid = key.uid
        self.sentAgo = sentAgo
    }

    package var key: EntryKey { EntryKey(lane: lane, uid: uid) }
}

/// How long ago an attempt was handed out, in milliseconds. Opaque outside of this package.
public struct SentAgo: Hashable, Sendable {
    package let milliseconds: UInt32

    package init(milliseconds: UInt32) { self.milliseconds = milliseconds }

    package static let unknown = SentAgo(milliseconds: .max)

    /// The time of the hand-out, seen from `settledAt`; `nil` if it is not known.
    package func time(before settledAt: WallTime) -> WallTime? {
        self == .unknown ? nil : WallTime(milliseconds: settledAt.milliseconds - Int64(milliseconds))
    }
}

/// What an outcome says beside the settlement itself. Opaque outside of this package.
public struct SettlementDetail: Hashable, Sendable {
    /// How long before ``SettlementBatch/settledAt`` the attempt was handed out.
    package var sentAgo: SentAgo
    /// The answer's `apns-unique-id`.
    package var uniqueID: String?
    /// Whether this ends an attempt, beside those that the entry's record counts.
    package var isAttempt: Bool

    package init(sentAgo: SentAgo = .unknown, uniqueID: String? = nil, isAttempt: Bool = true) {
        self.sentAgo = sentAgo
        self.uniqueID = uniqueID
        self.isAttempt = isAttempt
    }
}
