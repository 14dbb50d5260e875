internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// Which entries of the blacklist. Several flags all have to hold; a repeated one is "any".
struct BlacklistFilterOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries with this reason; may be repeated.
            """, valueName: "reason"))
    var reason: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries learnt on this route; may be repeated.
            """, valueName: "route"))
    var route: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries whose token is bad since this time or later: 2026-11-21T12:00:00Z, or 7d for seven days \
            ago.
            """, valueName: "time"),
        transform: AgeArgument.parse)
    var since: AgeArgument?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries whose token is bad since before this time, written like --since.
            """, valueName: "time"),
        transform: AgeArgument.parse)
    var until: AgeArgument?

    @OptionGroup var scopeOptions: BlacklistScopeOptions

    var isEmpty: Bool {
        reason.isEmpty && route.isEmpty && since == nil && until == nil && scopeOptions.isEmpty
    }

    /// Whether it says anything but for which topic and service.
    var choosesBeyondScope: Bool { !reason.isEmpty || !route.isEmpty || since != nil || until != nil }

    func filter(now: WallTime = EngineClock.system.wall()) -> BlacklistFilter {
        BlacklistFilter(
            reasons: Set(reason.map { $0.lowercased() }), routes: Set(route), since: since?.time(now),
            until: until?.time(now), topic: scopeOptions.topic, endpoint: scopeOptions.endpoint)
    }
}

struct BlacklistFilter {
    /// In lower case; empty: any.
    var reasons: Set<String>
    /// Empty: any.
    var routes: Set<String>
    var since: WallTime?
    var until: WallTime?
    /// Entries that name this topic; nil: any.
    var topic: String?
    /// Entries that name this service; nil: any.
    var endpoint: String?

    func matches(_ entry: BlacklistEntry) -> Bool {
        if !reasons.isEmpty, !reasons.contains(entry.reason.rawValue.lowercased()) { return false }
        if !routes.isEmpty, !routes.contains(entry.route) { return false }
        if let since, entry.since < since { return false }
        if let until, entry.since >= until { return false }
        if let topic, entry.topic != topic { return false }
        if let endpoint, entry.endpoint != endpoint { return false }
        return true
    }
}

/// A blacklist in the order of its tokens, a page at a time.
struct BlacklistListing {
    private static let pageCount = OperatorDeskLimits.batch

    let source: any JournalSource
    let filter: BlacklistFilter
    private var last: Recipient?
    private var hasEnded = false
    /// Entries that were left out so far, because they have ended.
    private(set) var endedCount = 0
    /// From which time on one has not ended; nil for all entries.
    private let now: WallTime?
    /// Tokens that were left out so far, because their records cannot be read.
    private(set) var unreadableCount = 0
    private var firstUnreadable: (recipient: Recipient?, fault: RecordFault)?

    /// - Parameter now: leaves out entries that have ended then; nil for all entries.
    init(_ source: any JournalSource, _ filter: BlacklistFilter, after: Recipient? = nil, at now: WallTime?) {
        self.source = source
        self.filter = filter
        self.now = now
        last = after
    }

    /// The chosen entries of the next page, perhaps none; `nil` at the end.
    mutating func next() async throws -> [BlacklistEntry]? {
        guard !hasEnded else { return nil }
        let page = try await source.blacklistPage(after: last, limit: Self.pageCount)
        hasEnded = page.entries.count < Self.pageCount
        last = page.entries.last?.recipient ?? last
        unreadableCount += page.unreadableCount
        firstUnreadable = firstUnreadable ?? page.firstUnreadable
        let chosen = page.entries.filter(filter.matches)
        guard let now else { return chosen }
        let valid = chosen.filter { !$0.hasEnded(at: now) }
        endedCount += chosen.count - valid.count
        return valid
    }

    /// Says what was left out because it has ended, or cannot be read.
    func tellLeftOut(reveal: Bool, _ console: Console = .standard) {
        if endedCount > 0 {
            let isOne = endedCount == 1
            console.note(
                "\(Format.plural(endedCount, "entry that has ended, and holds up nothing, is", "entries that have ended, and hold up nothing, are"))"
                    + " left out; `holdfast blacklist remove` deletes \(isOne ? "it" : "them") as well")
        }
        guard unreadableCount > 0 else { return }
        let count = Format.plural(unreadableCount, "token whose record", "tokens whose records")
        let first = firstUnreadable.map { recipient, fault in
            "; the first: \(recipient.map { reveal ? $0.notation : "\($0)" } ?? "one that is no token"), \(fault)"
        }
        console.note(
            "\(count) cannot be read \(unreadableCount == 1 ? "is" : "are") left out\(first ?? ""). What is "
                + "for such a token waits; `holdfast blacklist remove` deletes the record, and `blacklist add` writes it anew"
        )
    }
}
