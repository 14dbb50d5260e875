internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// Campaigns: what has one tag, counted.
enum PageCampaigns {
    /// Tags that are told apart; entries of others are counted as the rest.
    private static let greatestCount = 200

    static let operations: [PageOperation] = [
        .reading("api/campaigns") { call in
            let paused = try await call.journal.desk.status().pausedTags
            return try PageReply.json(try await call.journal.read { try list($0, paused) })
        },
        .reading("api/campaign", ["tag"]) { call in
            _ = try call.items.value("tag", OutcomeArgument.tag)
            let tag = Array(try call.items.need("tag").utf8)
            let paused = try await call.journal.desk.status().pausedTags.first { $0.tag == tag }
            return try PageReply.json(try await call.journal.read { try count($0, tag, paused) })
        },
    ]

    /// One tag. The names of its properties are those of the JSON.
    private struct Campaign: Encodable {
        var tag: String
        /// Unconfirmed entries.
        var waiting = 0
        /// All entries in the journal, by their state; rejections are among them.
        var states: [String: Int] = [:]
        var oldestAcceptedAt: ExactTime?
        /// Those that have ended, by how; only where one campaign is asked for.
        var ended: [String: Int]?
        /// Since when it is paused, and why; absent while it is not.
        var paused: PausedTagForm?
        /// Whether all was looked at, in the time that a request has; only where one campaign is asked for.
        var isWhole: Bool?
        /// The UID that the next notification was to get; only where one campaign is asked for.
        var nextUID: UInt64?

        init(_ tag: [UInt8], _ paused: DeskStatus.PausedTag?) {
            self.tag = String(decoding: tag, as: UTF8.self)
            self.paused = paused.map { PausedTagForm($0) }
        }

        mutating func add(_ entry: JournalEntry) {
            states[EntryRow.name(entry.state.kind), default: 0] += 1
            guard EntryStates.unconfirmed.contains(entry.state.kind) else { return }
            waiting += 1
            if entry.acceptedAt < oldestAcceptedAt?.value ?? .init(milliseconds: .max) {
                oldestAcceptedAt = ExactTime(entry.acceptedAt)
            }
        }
    }

    private struct Campaigns: Encodable {
        var campaigns: [Campaign]
        /// Entries of further tags.
        var others: Int
        /// Whether all entries were looked at, in the time that a request has.
        var isWhole: Bool
    }

    private static func list(_ reader: JournalReader, _ paused: [DeskStatus.PausedTag]) throws -> Campaigns {
        let deadline = PageDeadline()
        var campaigns: [[UInt8]: Campaign] = [:]
        for tag in paused { campaigns[tag.tag] = Campaign(tag.tag, tag) }
        var (others, isWhole) = (0, true)
        var listing = reader.listing(matching: EntryFilter())
        while let page = try listing.next() {
            for entry in page where !entry.notification.tag.isEmpty {
                let tag = entry.notification.tag
                if campaigns[tag] == nil, campaigns.count >= greatestCount {
                    others += 1
                } else {
                    campaigns[tag, default: Campaign(tag, nil)].add(entry)
                }
            }
            if deadline.hasPassed, listing.position != nil {
                isWhole = false
                break
            }
        }
        return Campaigns(
            campaigns: campaigns.values.sorted { ($1.waiting, $0.tag) < ($0.waiting, $1.tag) }, others: others,
            isWhole: isWhole)
    }

    private static func count(
        _ reader: JournalReader, _ tag: [UInt8], _ paused: DeskStatus.PausedTag?
    ) throws -> Campaign {
        let deadline = PageDeadline()
        var campaign = Campaign(tag, paused)
        campaign.nextUID = try reader.status().nextUID.rawValue
        campaign.isWhole = true
        var filter = EntryFilter()
        filter.tags = [TagPattern(literal: tag)]
        var listing = reader.listing(matching: filter)
        while let page = try listing.next() {
            for entry in page { campaign.add(entry) }
            if deadline.hasPassed, listing.position != nil {
                campaign.isWhole = false
                break
            }
        }
        var question = HistorySearch.Question()
        question.query.tag = tag
        var search = HistorySearch(reader: reader, question: question)
        search.deadline = .now + PageJournal.patience
        var ended: [String: Int] = [:]
        try search.ended(limit: OperatorDeskLimits.batch) { page in
            for outcome in page { ended[EndForm(outcome.terminal).outcome.rawValue, default: 0] += 1 }
            return true
        }
        campaign.ended = ended
        if search.isCutShort { campaign.isWhole = false }
        return campaign
    }
}
