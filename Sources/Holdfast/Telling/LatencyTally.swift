/// Counts latencies by the buckets of ``Latencies``, in ticks of a tenth of a millisecond.
///
/// A pure machine, which is filled again and again: only ``take()`` allocates.
struct LatencyTally: Sendable {
    private static let bounds = Latencies.bounds.map { UInt64(max($0.wholeMicroseconds / 100, 1)) }

    private var buckets = [Int](repeating: 0, count: Self.bounds.count + 1)
    private(set) var count = 0
    private var total: UInt64 = 0
    private var greatest: UInt64 = 0

    /// Adds `count` notifications that took equally long.
    mutating func add(_ count: Int, ticks: UInt64) {
        guard count > 0 else { return }
        self.count += count
        total &+= ticks &* UInt64(count)
        greatest = max(greatest, ticks)
        buckets[Self.bounds.firstIndex { ticks <= $0 } ?? Self.bounds.count] += count
    }

    /// Moves everything to `other`.
    mutating func move(to other: inout LatencyTally) {
        guard count > 0 else { return }
        other.count += count
        other.total &+= total
        other.greatest = max(other.greatest, greatest)
        for index in buckets.indices where buckets[index] > 0 {
            other.buckets[index] += buckets[index]
            buckets[index] = 0
        }
        (count, total, greatest) = (0, 0, 0)
    }

    /// The latencies since the last call.
    mutating func take() -> Latencies {
        guard count > 0 else { return Latencies() }
        let taken = Latencies(
            count: count, total: Self.duration(total), greatest: Self.duration(greatest), buckets: buckets)
        for index in buckets.indices { buckets[index] = 0 }
        (count, total, greatest) = (0, 0, 0)
        return taken
    }

    private static func duration(_ ticks: UInt64) -> Duration {
        .milliseconds(Int64(clamping: ticks / 10)) + .microseconds(Int64(ticks % 10) * 100)
    }
}

/// Confirmed entries by the time since which they could go, as runs of equal times.
///
/// Neighbours were mostly accepted together, so a run costs a comparison and an addition for each entry.
struct ConfirmedRuns: Sendable {
    /// In milliseconds of the wall clock; `Int64.max` for entries that are not timed.
    private var since = Int64.max
    private var count = 0
    private var earlier: [(since: Int64, count: Int)] = []

    mutating func add(_ count: Int = 1, since time: WallTime) {
        if time.milliseconds == since {
            self.count &+= count
        } else {
            begin(time.milliseconds, count)
        }
    }

    private mutating func begin(_ time: Int64, _ count: Int) {
        if self.count > 0, since != .max { earlier.append((since, self.count)) }
        (since, self.count) = (time, count)
    }

    /// Counts how long they took until now.
    func count(into tally: inout LatencyTally, now: WallTime) {
        for run in earlier { tally.add(run.count, ticks: Self.ticks(from: run.since, to: now)) }
        if since != .max { tally.add(count, ticks: Self.ticks(from: since, to: now)) }
    }

    /// A wall clock that was set back makes nothing negative.
    private static func ticks(from since: Int64, to now: WallTime) -> UInt64 {
        let (milliseconds, overflow) = now.milliseconds.subtractingReportingOverflow(since)
        return overflow || milliseconds <= 0 ? 0 : UInt64(milliseconds).multipliedReportingOverflow(by: 10).partialValue
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
