/// What is wrong with a route, told as it begins and ends. Confined to the route's Consumer.
final class RouteConditions {
    private let log: EngineLog
    private let clock: EngineClock
    private var reach: ServiceReach
    private var machine: Conditions
    private var lastAway: ServiceReach.Away?
    /// The service refused the credentials, or another server answered, and nothing has shown yet that this is over: lanes run
    /// again with other credentials before those are tried.
    private var refused: HealthCondition?
    /// The last answer that was not the service's, and since when such answers come; nil where the service has answered since.
    private var foreign: (words: String, since: Moment)?
    /// When the service took anything last, and whether it has taken something in this turn.
    private var takenAt: WallTime?
    private var hasTaken = false
    /// Whether the limit on new connections keeps everything waiting, and whether few go at a time.
    private var limited = LastingState()
    private var careful = LastingState()
    /// Since when something is to go and nothing was taken.
    private var untakenSince: Moment?
    private var isUntaken = false
    /// Whether ``foreign`` was looked at after its time.
    private var isForeignTold = false

    /// How long the service may give no answer of its own before another's is told: where both answer, something in between
    /// is restarted, say.
    static let foreignPatience = Duration.seconds(5)
    /// How long nothing may be taken before that is told, where nothing else is told that explains it.
    static let takingPatience = Duration.seconds(15)

    init(_ log: EngineLog, clock: EngineClock, interval: Duration, answersEach: Bool) {
        (self.log, self.clock) = (log, clock)
        reach = ServiceReach(answersEach: answersEach)
        machine = Conditions(interval: interval)
    }

    func take(_ news: RouteNews) {
        reach.take(news) { clock.moment() }
        if news.showsTakenCredentials { (refused, foreign) = (nil, nil) }
        if case .settling(let counts) = news, counts.confirmed > 0 || !counts.rejected.isEmpty { hasTaken = true }
        if case .foreignAnswer(let words) = news { foreign = (words, foreign?.since ?? clock.moment()) }
    }

    /// Goes on where the route's Consumer before this one was.
    func succeed(_ other: RouteConditions) {
        (machine, reach, refused, foreign) = (other.machine, other.reach, other.refused, other.foreign)
        (takenAt, limited, careful) = (other.takenAt, other.limited, other.careful)
        untakenSince = other.untakenSince
    }

    /// When the log may be told of what was held back; nil where nothing was.
    var nextTelling: Duration? {
        let foreign = isForeignTold ? nil : foreign.map { $0.since.monotonic + Self.foreignPatience }
        let untaken = isUntaken ? nil : untakenSince.map { $0.monotonic + Self.takingPatience }
        return [machine.nextTelling, foreign, reach.nextLook, limited.nextLook, careful.nextLook, untaken]
            .compactMap(\.self).min()
    }

    /// The requests that the service has answered, and has not, as of the end of a turn.
    struct Answers {
        /// Requests that have no answer.
        let out: Int
        /// All answers so far.
        let count: Int
        /// Whether all that is out is of topics that are set aside for getting no answers.
        let isExplained: () -> Bool
    }

    /// Reasons why a route may be slow for long.
    struct Brakes {
        /// Whether nothing goes before the limit on new connections allows one.
        let isLimited: Bool
        /// Whether few go at a time: see ``Caution``.
        let isCareful: Bool
        /// Whether lanes have something that could go at any time, as far as is known without a look at the journal.
        let hasWork: Bool
        /// Whether the journal has it.
        let hasEntries: () -> Bool
    }

    /// Looks at the route at the end of a turn.
    ///
    /// - Parameters:
    ///   - isOther: whether the findings are others than they were.
    ///   - depth: unconfirmed entries of a lane.
    /// - Returns: what is wrong now; nil when that is what it was.
    func look(
        isOther: Bool, _ answers: Answers, _ brakes: Brakes, _ findings: () -> RouteFindings, depth: (LaneKey) -> Int
    ) -> [HealthCondition]? {
        limited.look(brakes.isLimited) { clock.moment() }
        careful.look(brakes.isCareful) { clock.moment() }
        reach.turnEnded(out: answers.out, answers: answers.count) { clock.moment() }
        let isUntakenNow = isUntaken(brakes)
        defer { isUntaken = isUntakenNow }
        if hasTaken { (takenAt, hasTaken) = (clock.wall(), false) }
        // What waits grows while something is wrong.
        let isForeign = foreign.map { clock.monotonic() >= $0.since.monotonic + Self.foreignPatience } ?? false
        defer { isForeignTold = isForeign }
        let isDue = reach.nextLook.map { clock.monotonic() >= $0 } ?? false
        let isBraked = limited.isTold || careful.isTold || isUntakenNow != isUntaken
        guard isOther || isDue || reach.away != lastAway || !machine.isEmpty || isForeign != isForeignTold || isBraked
        else { return nil }
        var findings = findings()
        let waiting = findings.lanes.reduce(0) { $0 + depth($1.key) }
        if isDue || reach.away != nil {
            reach.look(waiting: waiting, isExplained: answers.isExplained, at: clock.moment())
        }
        if waiting == 0 { foreign = nil }
        (findings.away, lastAway) = (reach.away, reach.away)
        findings.takenAt = takenAt
        findings.limitedSince = limited.isTold ? limited.since?.wall : nil
        findings.carefulSince = careful.isTold ? careful.since?.wall : nil
        let now = clock.moment()
        let found = findings.conditions(depth: depth, now: now.wall)
        var all = found + stillRefused(found, waiting: waiting)
        if isForeign, let foreign, !all.contains(where: { $0.kind == .wrongServer }) {
            all.append(findings.answeredByOther(foreign.words, since: foreign.since.wall, waiting: waiting))
        }
        if isUntakenNow, let untakenSince {
            findings.nothingTaken(waiting, since: untakenSince.wall, beside: all).map { all.append($0) }
        }
        for change in machine.look(all, at: now) { log.tell(change) }
        return machine.all
    }

    /// Whether something could go, and nothing was taken for long.
    private func isUntaken(_ brakes: Brakes) -> Bool {
        guard brakes.hasWork else {
            untakenSince = nil
            return false
        }
        guard !hasTaken, let since = untakenSince else {
            untakenSince = clock.moment()
            return false
        }
        guard clock.monotonic() - since.monotonic >= Self.takingPatience else { return false }
        if isUntaken || brakes.hasEntries() { return true }
        untakenSince = clock.moment()
        return false
    }

    /// The refusal of credentials that lasts although the lanes run again: something waits, and nothing was taken yet.
    private func stillRefused(_ found: [HealthCondition], waiting: Int) -> [HealthCondition] {
        if let new = found.first(where: { [.credentialsRefused, .wrongServer].contains($0.kind) }) {
            refused = new
            return []
        }
        if waiting == 0 { refused = nil }
        guard var old = refused else { return [] }
        old.affected = waiting
        return [old]
    }
}
