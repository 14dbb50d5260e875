internal import Holdfast
internal import HoldfastPostgres

/// Something that a host can't do in its database now, while it goes on otherwise.
struct FleetTrouble: Hashable, Sendable {
    enum Task: String, Sendable {
        case watching = "watching"
        case takeovers
        case openings
        case commands
        case blacklist
        case providerTokens = "provider-tokens"
        case orders
        case commits
        case lease
        case upkeep
        case submissions
        case outcomes

        /// What is not done.
        fileprivate var what: String {
            switch self {
            case .watching: "other hosts are not watched, so that this one takes over nothing"
            case .takeovers: "it is a lost host's, and is not taken over"
            case .openings: "it is a lost host's, was taken over and can't be opened, so that nothing of it is sent"
            case .commands: "operators' commands of the fleet are not answered"
            case .blacklist: "the blacklist is not exchanged with other hosts"
            case .providerTokens: "provider and access tokens are not exchanged with other hosts"
            case .orders: "an order to the whole fleet is not carried out"
            case .commits: "commits wait"
            case .lease: "the lease is not renewed"
            case .upkeep: "the journal's log is not looked after, by checkpoints and comparisons"
            case .submissions: "submissions by SQL are not taken"
            case .outcomes: "outcomes are not told to SQL"
            }
        }
    }

    let task: Task
    /// The journal that is concerned; nil for all of this host.
    var journal: String?
    let why: String
    let origin: Origin
    /// When it is tried again; nil while it is, and where that is all the time.
    var nextTryAt: WallTime?
    /// Whether the journal is one that this host has taken over: that its own journal can't be kept is said by a condition of its own.
    var isTakenOver = false

    /// The side that is to be mended.
    enum Origin: Hashable, Sendable {
        case database
        /// This host's own disk.
        case disk
        /// The limit of this host's own journal.
        case limit
        /// This host's keys.
        case keys
        /// Not known: the words have to do.
        case words
    }

    init(_ task: Task, _ why: String, of origin: Origin = .database) {
        (self.task, self.why, self.origin) = (task, why, origin)
    }

    func of(_ journal: String) -> Self {
        var copy = self
        copy.journal = journal
        return copy
    }

    /// A journal of a lost host has no room on this host's disk.
    ///
    /// - Parameter path: of the working copies.
    init(_ want: TakeoverRoom.Want, in path: String) {
        self.init(
            .takeovers,
            "its working copy needs \(SizeText.mebibytes(want.needed)) free on the file system of \(path), which has "
                + "\(want.available >> 20) MiB free", of: .disk)
        journal = want.journal
    }

    /// This host can't open a lost host's journal.
    init(_ refusal: TakeoverRefusals.Refusal, nextTryAt: WallTime? = nil) {
        let origin: Origin =
            switch refusal.cause {
            case .keys: .keys
            case .database: .database
            case .other: .words
            }
        self.init(.takeovers, refusal.why, of: origin)
        (journal, self.nextTryAt) = (refusal.journal, nextTryAt)
    }

    /// What is in the way of a journal in the database.
    static func of(_ owned: OwnedJournal) -> [Self] {
        let troubles = owned.troubles
        return [
            troubles.commits.map { Self(.commits, $0) }, troubles.lease.map { Self(.lease, $0) },
            troubles.upkeep.map { Self(.upkeep, $0) },
        ].compactMap { $0?.of(owned.name) }
    }

    /// The same, and what is in the way of its submissions and outcomes by SQL.
    static func of(_ owned: OwnedJournal, _ submissions: SubmissionsBySQL?, _ outcomes: OutcomesBySQL?) -> [Self] {
        of(owned) + [submissions?.trouble, outcomes?.trouble].compactMap { $0?.of(owned.name) }
    }

    /// The operator's next step, with the command that shows more.
    var advice: JournalError.Advice {
        switch origin {
        case .disk:
            JournalError.Advice(
                "mend what is said of this host's disk, such as the room where working copies lie (`journal.path`); it is tried again "
                    + "by itself", command: "df -h")
        case .keys:
            JournalError.Advice(
                "put the key that is named into this host's key file (`journal.key-file`), behind the first, and reload; or start a "
                    + "host that has it. It is tried again by itself", command: "holdfast journal key list FILE")
        case .words:
            JournalError.Advice(
                "mend what is said, or start a host that can open it; it is tried again by itself, at least once a minute",
                command: "holdfast postgres status")
        case .limit:
            JournalError.Advice(
                "find what holds up the delivery, which drains the journal; if it is to hold more, raise its limit (`journal.limit`); it "
                    + "is tried again by itself", command: "holdfast status")
        case .database:
            JournalError.Advice(
                "mend what the database says, such as a limit of connections (`holdfast serve --check` says what a role or the schema "
                    + "lacks); it is tried again by itself", command: "holdfast postgres status")
        }
    }

    /// Of a journal that was taken over.
    var ofTakenOver: Self {
        var copy = self
        copy.isTakenOver = true
        return copy
    }

    /// In one line.
    var words: String { (journal.map { "journal \($0): " } ?? "") + "\(task.what): \(why)" }

    /// Of the task and the journal. That a journal can't be opened, and that it is not taken again before a pause, is one trouble.
    var subject: String { (journal.map { "\($0)/" } ?? "") + (task == .openings ? Task.takeovers : task).rawValue }

    /// Whether that the database is away says it already.
    var isOfJournal: Bool { !isTakenOver && [.commits, .lease].contains(task) }
}

/// Which troubles last: a session that was cut is there again in a moment, and that is not worth a word.
struct LastingTroubles {
    /// How long something may fail before it is told.
    static let patience = Duration.seconds(10)

    private var since: [String: (moment: Moment, trouble: FleetTrouble)] = [:]

    /// - Parameter troubles: all that there are now.
    mutating func look(_ troubles: [FleetTrouble], at now: Moment) -> [HealthCondition] {
        var next: [String: (moment: Moment, trouble: FleetTrouble)] = [:]
        for trouble in troubles where !trouble.isOfJournal {
            next[trouble.subject] = (since[trouble.subject]?.moment ?? now, trouble)
        }
        since = next
        return next.sorted { $0.key < $1.key }.compactMap { subject, entry in
            guard now.monotonic - entry.moment.monotonic >= Self.patience else { return nil }
            let advice = entry.trouble.advice
            return HealthCondition(
                .databaseTrouble, .warning, "database", subject, since: entry.moment.wall,
                nextTryAt: entry.trouble.nextTryAt, what: entry.trouble.words, next: advice.next,
                command: advice.command)
        }
    }
}
