import NIOCore

/// Answers that wait for their time, in buckets of one millisecond, so that a million of them need few timers.
struct DelayedAnswers {
    private var buckets: [Int64: [PreparedAnswer]] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// - Returns: when the bucket is due if it is a new one, for which a timer is to be set.
    mutating func insert(_ answer: PreparedAnswer, after delay: Duration, now: NIODeadline) -> (key: Int64, due: NIODeadline)? {
        let nanoseconds = Int64(clamping: delay / .nanoseconds(1))
        let (sum, isFar) = Int64(clamping: now.uptimeNanoseconds).addingReportingOverflow(nanoseconds)
        let due = isFar ? Int64.max - 1_000_000 : sum
        let key = (due + 999_999) / 1_000_000
        count += 1
        guard buckets[key] == nil else {
            buckets[key]?.append(answer)
            return nil
        }
        buckets[key] = [answer]
        return (key, .uptimeNanoseconds(UInt64(key) * 1_000_000))
    }

    /// The answers of a bucket, in the order they were put in.
    mutating func remove(_ key: Int64) -> [PreparedAnswer] {
        let answers = buckets.removeValue(forKey: key) ?? []
        count -= answers.count
        return answers
    }

    mutating func removeAll() {
        buckets.removeAll()
        count = 0
    }
}
