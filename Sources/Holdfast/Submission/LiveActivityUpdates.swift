/// The order of a Live Activity's payload among others of the same activity.
struct LiveActivityUpdate: Hashable, Sendable {
    /// Unix seconds; a device drops what is older than what it has.
    let timestamp: Int64
    /// Whether the payload is an update, which a newer one replaces. A start or an end is always sent.
    let isUpdate: Bool
    /// Of the notification: Unix seconds; 0 for never.
    var expiration: Int64 = 0

    /// Nil for a payload without `timestamp` and `event` in its `aps`.
    init?(_ bytes: Span<UInt8>, in range: Range<Int>) {
        do throws(JSONFault) {
            guard var aps = try JSONMembers.aps(of: bytes, in: range),
                let update = try Self.read(bytes, &aps)
            else { return nil }
            self = update
        } catch {
            // Not JSON, or a timestamp that is none: it is sent as it is.
            return nil
        }
    }

    private init(timestamp: Int64, isUpdate: Bool) {
        self.timestamp = timestamp
        self.isUpdate = isUpdate
    }

    private static func read(
        _ bytes: Span<UInt8>, _ aps: inout JSONMembers
    ) throws(JSONFault) -> LiveActivityUpdate? {
        var timestamp: Int64?
        var event: String?
        while let member = try aps.next(bytes) {
            if member.value.kind == .number, JSONScanner.isString(bytes, in: member.name, equalTo: "timestamp") {
                timestamp = try JSONScanner.integer(bytes, in: member.value.range)
            } else if member.value.kind == .string, JSONScanner.isString(bytes, in: member.name, equalTo: "event") {
                event = try JSONScanner.string(bytes, in: member.value.range)
            }
        }
        guard let timestamp, let event else { return nil }
        return LiveActivityUpdate(timestamp: timestamp, isUpdate: event == "update")
    }
}

/// The newest update of each live activity that this process has accepted, so that older ones which still wait need not go.
///
/// A pure machine, bounded: beyond the limit the activity that was heard of longest ago is forgotten, whose updates then all
/// go out, as they do after a restart. A device drops what is out of date by itself.
struct LiveActivityUpdates: Sendable {
    struct Activity: Hashable, Sendable {
        let recipient: Recipient
        let topic: String
    }

    private struct Newest: Sendable {
        var uid: UID
        var timestamp: Int64
        var expiration: Int64
    }

    private let limit: Int
    private var newest: [Activity: Newest] = [:]
    /// In the order of their first updates; those that were forgotten since are passed over.
    private var order: [Activity] = []
    private var forgotten = 0

    init(limit: Int = 10_000) { self.limit = limit }

    mutating func accepted(_ update: LiveActivityUpdate, of activity: Activity, as uid: UID) {
        let this = Newest(uid: uid, timestamp: update.timestamp, expiration: update.expiration)
        if let known = newest[activity] {
            if update.timestamp > known.timestamp { newest[activity] = this }
            return
        }
        newest[activity] = this
        order.append(activity)
        if newest.count > limit {
            newest[order[forgotten]] = nil
            forgotten += 1
        }
        if forgotten > limit {
            order.removeFirst(forgotten)
            forgotten = 0
        }
    }

    /// The entry that makes this one needless; nil when there is none.
    ///
    /// - Returns: `isExpired`: it may not go any more, so that it counts only if it has gone.
    func successor(
        of update: LiveActivityUpdate, of activity: Activity, uid: UID, at now: WallTime
    ) -> (uid: UID, isExpired: Bool)? {
        guard update.isUpdate, let known = newest[activity], known.uid != uid, known.timestamp > update.timestamp else {
            return nil
        }
        return (known.uid, known.expiration != 0 && known.expiration <= now.seconds)
    }
}
