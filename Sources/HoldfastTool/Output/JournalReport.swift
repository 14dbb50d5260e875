internal import Holdfast

/// A journal in figures. The names of its properties are those of the JSON.
struct JournalReport: Encodable, Equatable {
    struct Lane: Encodable, Equatable {
        var lane: String
        var unconfirmed: Int
        var deferred: Int
        /// The send mark.
        var mark: UInt64
    }

    struct Totals: Encodable, Equatable {
        var accepted: UInt64
        var confirmed: UInt64
        var rejected: UInt64
        var expired: UInt64
        var unknown: UInt64
        var withdrawn: UInt64
        var possibleDuplicates: UInt64
    }

    var journal: String
    /// The process that is using it; nil when it is at rest.
    var owner: String?
    /// Where `send` and `recover` deliver to; nil when the journal is an application's own.
    var endpoint: String?
    var unconfirmed: Int
    var possiblySent: Int
    var deferred: Int
    var rejections: Int
    var blacklist: Int
    var nextUID: UInt64
    var lanes: [Lane]
    var totals: Totals
    var usedBytes: Int
    var limitBytes: Int

    init(_ status: JournalStatus, directory: String, owner: String?, route: RememberedRoute?) {
        journal = directory
        self.owner = owner
        endpoint = route?.endpoint
        unconfirmed = status.unconfirmed
        possiblySent = status.possiblySent
        deferred = status.deferred
        rejections = status.rejections
        blacklist = status.blacklist
        nextUID = status.nextUID.rawValue
        lanes = status.lanes.map { lane in
            Lane(
                lane: lane.key.description, unconfirmed: lane.unconfirmed, deferred: lane.deferred,
                mark: lane.mark.rawValue)
        }
        let totals = status.totals
        self.totals = Totals(
            accepted: totals.accepted, confirmed: totals.confirmed, rejected: totals.rejected, expired: totals.expired,
            unknown: totals.unknown, withdrawn: totals.withdrawn, possibleDuplicates: totals.possibleDuplicates)
        usedBytes = status.usedBytes
        limitBytes = status.limitBytes
    }

    func text() -> String {
        var rows = [
            ("unconfirmed", Format.count(unconfirmed), "accepted, and not answered for yet"),
            ("possibly sent", Format.count(possiblySent), "of them, were the owner to crash now"),
            ("deferred", Format.count(deferred), "of them, waiting for their time"),
            ("rejections", Format.count(rejections), "refused for good"),
            ("blacklist", Format.count(blacklist), "tokens not to be sent to"),
            ("next UID", Format.count(nextUID), ""),
            ("in use", Format.bytes(usedBytes), limitBytes > 0 ? "of \(Format.bytes(limitBytes))" : ""),
        ]
        for lane in lanes where lane.unconfirmed > 0 {
            rows.append(("lane \(lane.lane)", Format.count(lane.unconfirmed), "send mark \(Format.count(lane.mark))"))
        }
        for (name, count) in [
            ("accepted", totals.accepted), ("confirmed", totals.confirmed), ("rejected", totals.rejected),
            ("expired", totals.expired), ("unknown", totals.unknown), ("withdrawn", totals.withdrawn),
            ("possible duplicates", totals.possibleDuplicates),
        ] where count > 0 || name == "accepted" || name == "confirmed" {
            rows.append(("ever \(name)", Format.count(count), ""))
        }
        let heading = [
            "\(journal): " + (owner.map { "in use by \($0)" } ?? "at rest"),
            endpoint.map { "delivers to \($0)" } ?? "an application's own: it remembers no route",
        ]
        return heading.joined(separator: "; ") + "\n" + DeliverySummary.table(rows)
    }
}
