internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

/// Which entries, for every command that lists or changes some. Several flags all have to hold; a repeated one is "any".
struct EntryFilterOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries of this lane, such as default/immediate/at-least-once, or of all lanes that begin so; \
            may be repeated.
            """,
            valueName: "lane"),
        completion: LaneCompletion.kind, transform: FilterArgument.lane)
    var lane: [LanePattern] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries with this topic; may be repeated.
            """, valueName: "topic"))
    var topic: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries to this token: all hex digits, the first ones, or the short form of a listing; may be \
            repeated.
            """,
            valueName: "token"),
        transform: FilterArgument.token)
    var token: [TokenPattern] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only broadcasts to this channel; may be repeated, and combined with --token.
            """, valueName: "id"),
        transform: FilterArgument.channel)
    var channel: [BroadcastChannel] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries to this address of another push service, such as fid:cXy1; may be repeated, and \
            combined with --token.
            """,
            valueName: "address"),
        transform: FilterArgument.address)
    var address: [ServiceAddress] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries of this producer; may be repeated.
            """, valueName: "name"))
    var producer: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries with this tag, or, if it ends with *, with a tag that begins so; may be repeated.
            """, valueName: "tag"),
        transform: { TagPattern($0) })
    var tag: [TagPattern] = []

    @Option(
        name: .customLong("apns-id"),
        help: ArgumentHelp(
            """
            Only entries with this apns-id; may be repeated.
            """, valueName: "uuid"),
        transform: FilterArgument.id)
    var id: [NotificationID] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries accepted longer ago than this (30s, 5m, 1h, 7d), or before this time \
            (2026-11-21T12:00:00Z).
            """,
            valueName: "age"),
        transform: AgeArgument.parse)
    var olderThan: AgeArgument?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries accepted less long ago than this (30s, 5m, 1h, 7d), or after this time \
            (2026-11-21T12:00:00Z).
            """, valueName: "age"),
        transform: AgeArgument.parse)
    var newerThan: AgeArgument?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries that were rejected or deferred for this reason; may be repeated.
            """, valueName: "reason"))
    var reason: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only entries with these UIDs: numbers and ranges, such as 10-20,30 or 500-.
            """, valueName: "uids"),
        transform: FilterArgument.uids)
    var uids: UIDRanges?

    @Option(
        name: .long,
        help: ArgumentHelp("Only entries that were deferred at least this often.", valueName: "count"))
    var attempts = 0

    /// - Parameter states: those to choose from.
    func filter(
        states: Set<JournalEntry.StateKind> = JournalEntry.StateKind.usual,
        now: WallTime = EngineClock.system.wall()
    ) -> EntryFilter {
        var filter = EntryFilter()
        filter.lanes = lane
        filter.states = states
        if let uids { filter.uids = uids }
        filter.topics = Set(topic)
        filter.tokens = token
        filter.channels = Set(channel)
        filter.addresses = Set(address)
        filter.producers = Set(producer)
        filter.tags = tag
        filter.ids = Set(id)
        filter.acceptedBefore = olderThan?.time(now)
        filter.acceptedAfter = newerThan?.time(now)
        filter.reasons = Set(reason.map(Reason.init(rawValue:)))
        filter.attempts = attempts
        return filter
    }

    /// Whether no flag was given, so that all entries are meant.
    var isEmpty: Bool { filter() == EntryFilter() }
}

/// Which states, for commands that do not say so themselves.
struct StateOptions: ParsableArguments {
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case unconfirmed
        case neverSent = "never-sent"
        case possiblySent = "possibly-sent"
        case deferred, scheduled, rejected
        /// Confirmed by silence, and kept in case a late error denies it.
        case aside

        var kinds: Set<JournalEntry.StateKind> {
            switch self {
            case .unconfirmed: [.neverSent, .possiblySent, .deferred, .scheduled]
            case .neverSent: [.neverSent]
            case .possiblySent: [.possiblySent]
            case .deferred: [.deferred]
            case .scheduled: [.scheduled]
            case .rejected: [.rejected]
            case .aside: [.aside]
            }
        }
    }

    @Option(
        name: .long,
        help: """
            Only entries in this state; may be repeated. `aside`, which is confirmed by silence and kept for late \
            errors, is left out unless it is given here.
            """)
    var state: [Choice] = []

    var kinds: Set<JournalEntry.StateKind> {
        state.isEmpty ? JournalEntry.StateKind.usual : state.reduce(into: Set()) { $0.formUnion($1.kinds) }
    }
}

/// The moment before or after which something was: so long ago, or at a time.
enum AgeArgument: Equatable {
    case ago(Duration)
    case at(WallTime)

    static func parse(_ text: String) throws -> AgeArgument {
        if let time = Timestamp.parse(text) { return .at(time) }
        do {
            return .ago(try DurationArgument.parse(text))
        } catch {
            throw ValidationError(
                "\(text.debugDescription) is neither an age such as 30s, 5m, 1h or 7d nor a time as 2026-11-21T12:00:00Z."
            )
        }
    }

    func time(_ now: WallTime) -> WallTime {
        switch self {
        case .ago(let duration): now.advanced(by: .zero - duration)
        case .at(let time): time
        }
    }
}

private enum FilterArgument {
    static func lane(_ text: String) throws -> LanePattern {
        guard let pattern = LanePattern(text) else {
            throw ValidationError("A lane is named ROUTE/URGENCY/GUARANTEE, such as default/immediate/at-least-once.")
        }
        return pattern
    }

    static func token(_ text: String) throws -> TokenPattern {
        guard let pattern = TokenPattern(text) else {
            throw ValidationError("It takes hex digits: all of a token, the first ones, or 00fc…9a1b.")
        }
        return pattern
    }

    static func channel(_ text: String) throws -> BroadcastChannel {
        do throws(Refusal) {
            return try BroadcastChannel(text)
        } catch {
            throw ValidationError("\(error.detail).")
        }
    }

    static func address(_ text: String) throws -> ServiceAddress {
        do throws(Refusal) {
            return try ServiceAddress(notation: text)
        } catch {
            throw ValidationError("\(error.detail).")
        }
    }

    static func id(_ text: String) throws -> NotificationID {
        guard let id = NotificationID(text) else { throw ValidationError("\(text.debugDescription) is no UUID.") }
        return id
    }

    static func uids(_ text: String) throws -> UIDRanges {
        guard let uids = UIDRanges(text) else {
            throw ValidationError("\(text.debugDescription) is not a list of UIDs such as 7, 10-20,30 or 500-.")
        }
        return uids
    }
}
