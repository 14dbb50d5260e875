package import NIOCore

/// Delayed answers, in buckets of one millisecond, so that a million of them need few timers.
package struct DelayedAnswers {
    private var buckets: [Int64: [PreparedAnswer]] = [:]
    private(set) var count = 0
    private var newBuckets: [Bucket] = []

    /// Answers that fall due together.
    package struct Bucket {
        package let key: Int64
        package let due: NIODeadline
    }

    package var isEmpty: Bool { count == 0 }

    /// Puts an answer into the bucket of its due time; a new bucket is noted in ``newBuckets``.
    package mutating func insert(_ answer: PreparedAnswer, after delay: Duration, now: NIODeadline) {
        let nanoseconds = Int64(clamping: delay / .nanoseconds(1))
        let (sum, isFar) = Int64(clamping: now.uptimeNanoseconds).addingReportingOverflow(nanoseconds)
        let due = isFar ? Int64.max - 1_000_000 : sum
        let key = (due + 999_999) / 1_000_000
        count += 1
        guard buckets[key] == nil else {
            buckets[key]?.append(answer)
            return
        }
        buckets[key] = [answer]
        newBuckets.append(Bucket(key: key, due: .uptimeNanoseconds(UInt64(key) * 1_000_000)))
    }

    /// The buckets that still need a timer, each returned once.
    package mutating func takeNewBuckets() -> [Bucket] {
        var taken: [Bucket] = []
        swap(&taken, &newBuckets)
        return taken
    }

    /// The answers of a bucket, in the order of insertion.
    package mutating func remove(_ key: Int64) -> [PreparedAnswer] {
        let answers = buckets.removeValue(forKey: key) ?? []
        count -= answers.count
        return answers
    }

    package mutating func removeAll() {
        buckets.removeAll()
        newBuckets.removeAll()
        count = 0
    }
}
