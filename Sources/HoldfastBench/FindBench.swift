internal import Foundation
internal import Holdfast
internal import HoldfastJournal

/// Looks for outcomes among many, by each key.
struct FindBench {
    struct Times: Encodable {
        var key: String
        var medianMilliseconds: Double
        var greatestMilliseconds: Double
        /// Of one search.
        var found: Int
    }

    let journal: LMDBJournal
    /// Outcomes of the log, numbered from 0.
    let count: UInt64
    let searches: Int

    func run() throws -> [Times] {
        var generator = SystemRandomNumberGenerator()
        func times(_ key: String, limit: Int = 10, _ change: (inout OutcomeQuery, UInt64) -> Void) throws -> Times {
            var milliseconds: [Double] = []
            var found = 0
            for _ in 0..<searches {
                var query = OutcomeQuery()
                change(&query, UInt64.random(in: 0..<count, using: &generator))
                let clock = ContinuousClock.now
                let page = try journal.findOutcomes(query, before: nil, limit: limit, mostBytes: .max)
                milliseconds.append((ContinuousClock.now - clock) / .milliseconds(1))
                found = page.outcomes.count
            }
            return Times(
                key: key, medianMilliseconds: Quantile.median(milliseconds),
                greatestMilliseconds: milliseconds.max() ?? 0, found: found)
        }
        return [
            try times("uid") { query, number in query.uid = UID(number + 1) },
            try times("apns-id") { query, number in query.id = OutcomeBench.id(of: number) },
            try times("token") { query, number in query.recipient = .device(OutcomeBench.token(of: number)) },
            try times("no such token") { query, number in
                query.recipient = .device(OutcomeBench.token(of: number + 1 << 40))
            },
            try times("tag") { query, number in query.tag = OutcomeBench.tag(of: number) },
            try times("tag and topic") { query, number in
                (query.tag, query.topic) = (OutcomeBench.tag(of: number), DeliveryBench.topic)
            },
            try times("topic") { query, _ in query.topic = DeliveryBench.topic },
            try times("no such topic") { query, _ in query.topic = "com.example.other" },
            try times("producer") { query, _ in query.producer = "default" },
            try times("time") { query, number in
                let time = OutcomeBench.now.milliseconds + Int64(number)
                query.since = WallTime(milliseconds: time)
                query.until = WallTime(milliseconds: time + 2000)
            },
        ]
    }
}
