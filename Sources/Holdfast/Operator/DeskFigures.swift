extension DeskStatus {
    /// The counts of a running engine since it was made. The difference of two is a rate.
    public struct Figures: Hashable, Sendable {
        /// See ``EngineStatus/submitted``.
        public var submitted = 0
        /// See ``EngineStatus/refused``.
        public var refused = 0
        /// See ``EngineStatus/handedOut``.
        public var sent = 0
        /// See ``EngineStatus/confirmed``.
        public var confirmed = 0
        /// See ``EngineStatus/rejected``.
        public var rejected: [Reason: Int] = [:]
        /// See ``EngineStatus/expired``.
        public var expired = 0
        /// See ``EngineStatus/unknown``.
        public var unknown = 0
        /// See ``EngineStatus/withdrawn``.
        public var withdrawn = 0
        /// See ``EngineStatus/superseded``.
        public var superseded = 0
        /// See ``EngineStatus/deferrals``.
        public var deferred = 0
        /// See ``EngineStatus/requeued``.
        public var requeued = 0
        /// See ``EngineStatus/possibleDuplicates``.
        public var possibleDuplicates = 0
        /// The answers of services, and the sum of their latencies: from the hand-out to a connection to the answer.
        public var answers = Times()
        /// The commits of the journal, and the sum of their durations.
        public var commits = Times()

        package init() {}

        /// The sum of ``rejected`` over all reasons.
        public var rejectedTotal: Int { rejected.values.reduce(0, +) }
    }

    /// A number of events, and the sum of their times.
    public struct Times: Hashable, Sendable {
        /// The number of events.
        public var count = 0
        /// The sum of their times.
        public var total = Duration.zero
        /// The number of times in each bucket of ``Latencies/bounds`` alone, and last those beyond all bounds; empty where
        /// they are not counted by bucket.
        public var buckets: [Int] = []

        package init(count: Int = 0, total: Duration = .zero, buckets: [Int] = []) {
            (self.count, self.total, self.buckets) = (count, total, buckets)
        }

        /// The events since an earlier look. Without buckets where either has none.
        package func since(_ earlier: Times) -> Times {
            let buckets = zip(buckets, earlier.buckets).map { max($0 - $1, 0) }
            return Times(count: count - earlier.count, total: total - earlier.total, buckets: buckets)
        }

        /// The time within which this share of the events was over, by the buckets: as if those of a bucket were spread over
        /// it evenly. `nil` without buckets or events; the last bound for what lies beyond all of them.
        public func quantile(_ share: Double) -> Duration? {
            let bounds = Latencies.bounds
            let sum = buckets.reduce(0, +)
            guard sum > 0, buckets.count == bounds.count + 1 else { return nil }
            var rank = min(max(share, 0), 1) * Double(sum)
            for (index, bound) in bounds.enumerated() {
                let count = Double(buckets[index])
                if count > 0, rank <= count {
                    let lower = index == 0 ? .zero : bounds[index - 1]
                    return lower + (bound - lower) * (rank / count)
                }
                rank -= count
            }
            return bounds.last
        }

        /// The mean time; `nil` without events.
        public var mean: Duration? { count > 0 ? total / count : nil }
    }
}

extension DeskStatus.Figures {
    init(_ status: EngineStatus, answers: DeskStatus.Times, commits: DeskStatus.Times) {
        submitted = status.submitted
        refused = status.refused
        sent = status.handedOut
        confirmed = status.confirmed
        rejected = status.rejected
        expired = status.expired
        unknown = status.unknown
        withdrawn = status.withdrawn
        superseded = status.superseded
        deferred = status.deferrals
        requeued = status.requeued
        possibleDuplicates = status.possibleDuplicates
        self.answers = answers
        self.commits = commits
    }
}
