internal import Holdfast
internal import HoldfastControl

/// Takes the samples: looks each second, and keeps what ten of them have brought.
struct PageSampler: Sendable {
    /// The newest ended notifications, whose latency is looked at in one sample.
    private static let outcomeLimit = 500

    let samples: PageSamples
    let meter: PageMeter
    /// nil while none runs.
    let engine: @Sendable () -> PushEngine?
    let senderConnections: @Sendable () -> Int

    /// Until its task is cancelled.
    func run() async {
        var (before, start) = (meter.current, ContinuousClock.now)
        while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
            let sample = await sample(meter.current.since(before), from: start)
            guard .now - start >= PageSamples.interval else {
                samples.show(sample)
                continue
            }
            samples.keep(sample)
            (before, start) = (meter.current, .now)
        }
    }

    private func sample(_ counts: PageMeter.Counts, from start: ContinuousClock.Instant) async -> PageSamples.Sample {
        let now = EngineClock.system.wall()
        let elapsed = ContinuousClock.now - start
        var sample = PageSamples.Sample(at: ExactTime(now), seconds: Double(elapsed.wholeMilliseconds) / 1000)
        sample.submitted = counts.accepted
        sample.refused = counts.refused
        sample.confirmed = counts.confirmed
        sample.deferred = counts.deferred
        sample.rejected = Self.bounded(counts.rejected)
        sample.senderConnections = senderConnections()
        sample.serviceConnections = counts.connections.values.reduce(0, +)
        guard let engine = engine() else { return sample }
        let status = engine.status()
        sample.unconfirmed = status.unconfirmed
        sample.oldestSeconds = status.lanes.compactMap(\.oldestAcceptedAt).min().map {
            Double(max(0, now.since($0).wholeMilliseconds)) / 1000
        }
        sample.latency = await latency(engine, since: now.advanced(by: .zero - elapsed))
        return sample
    }

    private static func bounded(_ rejected: [String: Int]) -> [String: Int] {
        guard rejected.count > PageSamples.greatestReasonCount else { return rejected }
        let sorted = rejected.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var kept = Dictionary(uniqueKeysWithValues: sorted.prefix(PageSamples.greatestReasonCount - 1).map { ($0, $1) })
        kept[PageMeter.others, default: 0] += sorted.dropFirst(PageSamples.greatestReasonCount - 1).reduce(0) {
            $0 + $1.value
        }
        return kept
    }

    /// From acceptance to confirmation, as the history has it.
    private func latency(_ engine: PushEngine, since start: WallTime) async -> PageSamples.Latency? {
        let page: OutcomePage
        do {
            // Of all, so that no more is looked at than this: a search for a time goes through the whole history.
            page = try await engine.desk.findOutcomes(OutcomeQuery(), before: nil, limit: Self.outcomeLimit)
        } catch {
            // The journal is closed, or can't be read: whoever needs it says so.
            return nil
        }
        let times = page.outcomes.compactMap { outcome -> Double? in
            guard outcome.settledAt >= start, outcome.terminal == .confirmed else { return nil }
            return Double(max(0, outcome.settledAt.since(outcome.history.acceptedAt).wholeMilliseconds)) / 1000
        }.sorted()
        guard !times.isEmpty else { return nil }
        func quantile(_ part: Double) -> Double { times[min(times.count - 1, Int(Double(times.count) * part))] }
        return PageSamples.Latency(p50: quantile(0.5), p99: quantile(0.99), count: times.count)
    }
}
