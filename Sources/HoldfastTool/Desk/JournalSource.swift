internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// What commands read of a journal: from its files, or by asking its owner on another host.
protocol JournalSource: Sendable {
    /// For people.
    var name: String { get }
    /// The process that uses the journal, for people; nil at rest.
    var owner: String? { get }

    /// Entries that the filter wants, from the first above `after`. A part may be empty although more follow.
    func entries(_ filter: EntryFilter, after: UID, limit: Int) async throws -> EntryPart

    /// Counts what the filter wants. Also returns the UID that the next notification was to get when the counting began.
    func tally(_ filter: EntryFilter) async throws -> (tallies: [EntryTally], nextUID: UID)

    /// All lanes that the journal ever had.
    func lanes() async throws -> [LaneKey]

    /// The blacklist in the order of its recipients, from the first above `after`. Fewer than `limit` are the last.
    func blacklistPage(after: Recipient?, limit: Int) async throws -> BlacklistPage

    /// The blacklist's entries of each recipient, at most 1,000 of them.
    func blacklistEntries(for recipients: [Recipient]) async throws -> [[BlacklistEntry]]

    /// Ended notifications, in their order.
    func outcomes(after: OutcomeCursor?, limit: Int, of producers: Set<String>?) async throws -> OutcomeListing

    /// The bounds of the history, and its readers.
    func history() async throws -> OutcomeLogStatus

    /// Where entries stand, in order.
    func standings(_ uids: [UID]) async throws -> [EntryStanding]

    /// The bytes of a note that `send` left; nil where there is none.
    func note(_ name: String) async throws -> [UInt8]?

    /// Why lanes stand still.
    func laneTroubles() async throws -> [LaneKey: String]
}

/// From the files of a journal.
struct LocalSource: JournalSource {
    let reader: JournalReader

    init(_ reader: JournalReader) { self.reader = reader }

    var name: String { reader.directory }
    var owner: String? { reader.owner }

    func entries(_ filter: EntryFilter, after: UID, limit: Int) async throws -> EntryPart {
        var listing = reader.listing(matching: filter, after: after, limit: limit)
        let entries = try listing.next() ?? []
        // At the limit there may be more.
        return EntryPart(
            entries: entries, end: listing.position, unreadable: listing.unreadable, fault: listing.firstFault?.message)
    }

    func tally(_ filter: EntryFilter) async throws -> (tallies: [EntryTally], nextUID: UID) {
        // Before the counting: an entry that comes in between is not meant.
        let next = try reader.status().nextUID
        return (try reader.tally(matching: filter), next)
    }

    func lanes() async throws -> [LaneKey] { try reader.status().lanes.map(\.key) }

    func blacklistPage(after: Recipient?, limit: Int) async throws -> BlacklistPage {
        try reader.blacklistPage(after: after, limit: limit)
    }

    func blacklistEntries(for recipients: [Recipient]) async throws -> [[BlacklistEntry]] {
        try recipients.map { try reader.blacklistEntries(for: $0) }
    }

    func outcomes(after: OutcomeCursor?, limit: Int, of producers: Set<String>?) async throws -> OutcomeListing {
        try reader.reading.listing(after: after, limit: limit, of: producers)
    }

    func history() async throws -> OutcomeLogStatus { try reader.history() }

    func standings(_ uids: [UID]) async throws -> [EntryStanding] { try uids.map { try reader.standing($0) } }

    func note(_ name: String) async throws -> [UInt8]? { try reader.note(name) }

    func laneTroubles() async throws -> [LaneKey: String] { LaneTroubles.of(try reader.status()) }
}

/// By asking the owner of a journal.
struct RemoteSource: JournalSource {
    let desk: RemoteDesk
    let name: String
    private let reader: RemoteReader

    /// - Parameter name: of the journal, for people.
    init(_ desk: RemoteDesk, _ name: String) {
        self.desk = desk
        self.name = name
        reader = RemoteReader(desk)
    }

    var owner: String? { desk.owner }

    func entries(_ filter: EntryFilter, after: UID, limit: Int) async throws -> EntryPart {
        try await reader.entries(filter, after: after, limit: limit)
    }

    func tally(_ filter: EntryFilter) async throws -> (tallies: [EntryTally], nextUID: UID) {
        try await reader.tally(filter)
    }

    func lanes() async throws -> [LaneKey] { try await desk.status().lanes.map(\.key) }

    func blacklistPage(after: Recipient?, limit: Int) async throws -> BlacklistPage {
        try await reader.blacklistPage(after: after, limit: limit)
    }

    func blacklistEntries(for recipients: [Recipient]) async throws -> [[BlacklistEntry]] {
        try await reader.blacklistEntries(for: recipients)
    }

    func outcomes(after: OutcomeCursor?, limit: Int, of producers: Set<String>?) async throws -> OutcomeListing {
        try await desk.outcomes(after: after, limit: limit, of: producers, waitingAtMost: .zero)
    }

    func history() async throws -> OutcomeLogStatus { try await desk.outcomeLog() }

    func standings(_ uids: [UID]) async throws -> [EntryStanding] { try await reader.standings(uids) }

    func note(_ name: String) async throws -> [UInt8]? { try await reader.note(name) }

    func laneTroubles() async throws -> [LaneKey: String] { LaneTroubles.of(try await desk.status()) }
}
