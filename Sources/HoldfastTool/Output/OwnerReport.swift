internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// The figures of a journal that its owner tells: of one on another host, or of a sealed one without its key. The names of its properties are those of the JSON.
struct OwnerReport: Encodable, Sendable {
    /// The process, and the host.
    var owner: String
    var unconfirmed: Int
    var deferred: Int
    /// `nil` for none.
    var scheduled: Int?
    var inFlight: Int
    var lanes: [LaneRow]
    /// `nil` if no tag is paused.
    var pausedTags: [PausedTagForm]?
    /// `nil` where the owner does not say.
    var history: HistoryForm?
    /// Readers of outcomes that belong to the process, such as webhooks; nil if there are none.
    var ownReaders: [ReaderForm]?
    /// Places at which the blacklist is damaged; nil for none.
    var blacklistDamage: Int?
    /// What is wrong, the worst first; without what operators hold up. Nil for nothing.
    var conditions: [ConditionForm]?

    init(_ status: DeskStatus, owner: String) {
        self.owner = owner
        lanes = status.lanes.map { LaneRow($0, status) }
        unconfirmed = status.lanes.reduce(0) { $0 + $1.unconfirmed }
        deferred = status.lanes.reduce(0) { $0 + $1.deferred }
        let scheduled = status.lanes.reduce(0) { $0 + $1.scheduled }
        self.scheduled = scheduled > 0 ? scheduled : nil
        inFlight = status.routes.reduce(0) { $0 + $1.inFlight }
        pausedTags = status.pausedTags.isEmpty ? nil : status.pausedTags.map { PausedTagForm($0) }
        history = status.history.map { HistoryForm($0) }
        ownReaders = status.ownReaders.isEmpty ? nil : status.ownReaders.map { ReaderForm($0) }
        blacklistDamage = status.blacklistDamage > 0 ? status.blacklistDamage : nil
        let wrong = (status.conditions ?? []).filter { $0.severity > .notice && $0.journal == nil }
        conditions = wrong.isEmpty ? nil : wrong.map { ConditionForm($0) }
    }

    /// - Parameter journal: its name, for people.
    func text(of journal: String) -> String {
        var rows = [
            ("unconfirmed", Format.count(unconfirmed), "accepted, and not answered for yet"),
            ("in flight", Format.count(inFlight), "of them, with a connection"),
            ("deferred", Format.count(deferred), "of them, waiting for their time"),
        ]
        if let scheduled {
            rows.append(("scheduled", Format.count(scheduled), "of them, to be delivered from a time on"))
        }
        if let history { rows.append(("history", Format.count(history.count), history.words())) }
        let shown = lanes.filter { $0.lane.unconfirmed > 0 || $0.lane.state != "running" || $0.route?.holding != nil }
        let troubles = (ownReaders ?? []).compactMap { reader in
            (reader.trouble ?? reader.notice).map { "  \(reader.reader): \($0.printable(maximumLength: 512))" }
        }
        return
            ([
                "\(journal): in use by \(owner.printable(maximumLength: 256))", DeliverySummary.table(rows),
                shown.isEmpty ? nil : LaneRow.table(shown, indent: "  "),
                pausedTags.map { PausedTagRow.table($0, indent: "  ") },
            ].compactMap(\.self) + troubles
            + (conditions ?? []).map { "  \($0.severity) \($0.kind): \($0.what.printable(maximumLength: 512))" })
            .joined(separator: "\n")
    }
}
