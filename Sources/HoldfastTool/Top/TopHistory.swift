internal import Holdfast

/// What the owner of a journal said at one time.
struct TopSample: Sendable {
    /// Of the monotonic clock.
    var at: Duration
    var wall: WallTime
    var status: DeskStatus
    /// How long its answer took.
    var answered: Duration
}

/// Rates between two samples, in notifications a second.
struct TopRates: Hashable, Sendable, Encodable {
    var accepted = 0.0
    var sent = 0.0
    var confirmed = 0.0
    /// Refused for good, by the service or by Holdfast.
    var rejected = 0.0
    var deferred = 0.0
    /// Refused at submission.
    var refused = 0.0
    /// Mean times in milliseconds; nil where nothing happened.
    var answerMilliseconds: Double?
    /// The time within which 99 of 100 answers came; nil where nothing happened, or nobody says.
    var answerP99Milliseconds: Double?
    var commitMilliseconds: Double?
}

/// Rejections with one reason.
struct TopReason: Hashable, Sendable, Encodable {
    var reason: String
    /// Since the service began.
    var total: Int
    /// Since the first sample.
    var recent: Int
    /// When the last one was seen, of the monotonic clock; nil if none was since the first sample.
    var lastSeen: Duration?

    private enum CodingKeys: String, CodingKey { case reason, total, recent }
}

/// The samples of a while, as rates. A pure machine.
struct TopHistory: Sendable {
    /// The most rates that are kept.
    static let limit = 300

    private(set) var newest: TopSample?
    /// Oldest first.
    private(set) var rates: [TopRates] = []
    /// The latest first; behind them those that came before the first sample, the most frequent first.
    private(set) var reasons: [TopReason] = []

    /// Adds a sample. Counts that went back are those of another process: its rates begin anew.
    mutating func add(_ sample: TopSample) {
        defer { newest = sample }
        guard let figures = sample.status.figures else { return }
        let before = newest?.status.figures
        let isSame = before.map { $0.submitted <= figures.submitted && $0.sent <= figures.sent } ?? false
        if let before, let newest, isSame, sample.at > newest.at {
            rates.append(Self.rates(from: before, to: figures, over: sample.at - newest.at))
            if rates.count > Self.limit { rates.removeFirst(rates.count - Self.limit) }
        }
        count(figures, isSame ? before : nil, at: sample.at)
    }

    private mutating func count(_ figures: DeskStatus.Figures, _ before: DeskStatus.Figures?, at now: Duration) {
        var known = Dictionary(reasons.map { ($0.reason, $0) }, uniquingKeysWith: { first, _ in first })
        if before == nil { known = [:] }
        var rejected = figures.rejected
        if figures.expired > 0 { rejected[.expired] = figures.expired }
        for (reason, total) in rejected {
            var entry = known[reason.rawValue] ?? TopReason(reason: reason.rawValue, total: 0, recent: 0)
            if before != nil, total > entry.total {
                entry.recent += total - entry.total
                entry.lastSeen = now
            }
            entry.total = total
            known[reason.rawValue] = entry
        }
        reasons = known.values.sorted { one, other in
            if one.lastSeen != other.lastSeen { return (one.lastSeen ?? .zero) > (other.lastSeen ?? .zero) }
            return (other.total, one.reason) < (one.total, other.reason)
        }
    }

    private static func rates(
        from before: DeskStatus.Figures, to now: DeskStatus.Figures, over time: Duration
    ) -> TopRates {
        let seconds = max(time / .seconds(1), 0.001)
        func rate(_ value: (DeskStatus.Figures) -> Int) -> Double {
            Double(max(value(now) - value(before), 0)) / seconds
        }
        func mean(_ value: (DeskStatus.Figures) -> DeskStatus.Times) -> Double? {
            value(now).since(value(before)).mean.map { $0 / .milliseconds(1) }
        }
        let p99 = now.answers.since(before.answers).quantile(0.99)
        return TopRates(
            accepted: rate(\.submitted), sent: rate(\.sent), confirmed: rate(\.confirmed),
            rejected: rate { $0.rejectedTotal + $0.expired }, deferred: rate(\.deferred), refused: rate(\.refused),
            answerMilliseconds: mean(\.answers), answerP99Milliseconds: p99.map { $0 / .milliseconds(1) },
            commitMilliseconds: mean(\.commits))
    }
}
