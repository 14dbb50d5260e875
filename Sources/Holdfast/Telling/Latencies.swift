/// The latencies of one turn, counted by bucket: a histogram of notifications, not of turns.
public struct Latencies: Hashable, Sendable {
    /// The upper bounds of the buckets, ascending: from a millisecond to half a day. A latency that equals a bound is in its
    /// bucket.
    public static let bounds: [Duration] = [
        .microseconds(1000), .microseconds(2500), .milliseconds(5), .milliseconds(10), .milliseconds(25),
        .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
        .milliseconds(2500), .seconds(5), .seconds(10), .seconds(30), .seconds(60), .seconds(2 * 60),
        .seconds(5 * 60), .seconds(15 * 60), .seconds(60 * 60), .seconds(3 * 60 * 60), .seconds(12 * 60 * 60),
    ]

    /// The number of latencies.
    public var count: Int
    /// The sum of the latencies, each to a tenth of a millisecond.
    public var total: Duration
    /// The longest latency.
    public var greatest: Duration
    /// The number of latencies in each bucket of ``bounds`` alone, and last those beyond all bounds.
    public var buckets: [Int]

    package init(count: Int = 0, total: Duration = .zero, greatest: Duration = .zero, buckets: [Int] = []) {
        self.count = count
        self.total = total
        self.greatest = greatest
        self.buckets = buckets.isEmpty ? [Int](repeating: 0, count: Self.bounds.count + 1) : buckets
    }

    /// The mean latency; `nil` without any.
    public var mean: Duration? { count > 0 ? total / count : nil }
}
