import CoreMetrics
import HoldfastAPNsAnswers
import HoldfastTesting
import MetricsTestKit
import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct ExporterTests {
    private let metrics = TestMetrics()
    private let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)

    private func bench(change: (inout EngineConfiguration) -> Void = { _ in }) throws -> Bench {
        try Bench(listeners: [SwiftMetricsExporter(factory: metrics, routes: ["default"])], change: change)
    }

    private func total(_ name: MetricName, _ values: [String] = []) -> Int64 {
        metrics.counterTotal(label: name.rawValue, dimensions: Array(zip(name.labels, values)))
    }

    private func level(_ name: MetricName, _ values: [String] = []) -> Double? {
        metrics.meters(label: name.rawValue, dimensions: Array(zip(name.labels, values))).first?.lastValue
    }

    @Test("What happens to notifications is counted under the documented names") func counters() throws {
        let bench = try bench()
        bench.answer = { notification in
            switch Sample.number(of: notification) {
            case 1: SendResult(apnsStatus: 410, reason: "Unregistered")
            case 2: SendResult(apnsStatus: 400, reason: "a foreign\nword")
            case 3: SendResult(apnsStatus: 503, reason: "ServiceUnavailable")
            default: .confirmed
            }
        }
        var bad = Sample.notification(0)
        bad.payload = Array("no JSON".utf8)
        try bench.submit((1..<101).map { Sample.notification($0) } + [bad])
        bench.settle()
        #expect(total(.submitted) == 100)
        #expect(total(.refused, ["PayloadNotJSON"]) == 1)
        #expect(total(.sent, ["default"]) == 100)
        #expect(total(.confirmed, ["default", "answer"]) == 97)
        #expect(total(.rejected, ["default", "Unregistered"]) == 1)
        #expect(total(.rejected, ["default", "other"]) == 1)
        #expect(total(.deferred, ["default"]) == 1)
        #expect(total(.connectionsOpened, ["default"]) == 1)
    }

    @Test("Levels and states are set under the documented names") func meters() throws {
        let bench = try bench { $0.measureInterval = .seconds(10) }
        bench.accepts = false
        try bench.submit(1..<6)
        bench.core.pause(lane)
        bench.advance(by: .seconds(30))
        #expect(level(.depth, ["default", "immediate/at-least-once"]) == 5)
        #expect((level(.oldestAge, ["default", "immediate/at-least-once"]) ?? 0) >= 20)
        #expect(level(.laneState, ["default", "immediate/at-least-once"]) == 1)
        #expect(level(.laneState, ["default", "considerate/at-least-once"]) == 0)
        #expect(level(.connections, ["default"]) == 0)
        #expect(level(.blacklist) == 0)
        #expect((level(.usedBytes) ?? 0) > 0)
    }

    @Test("Commits and answers are timed, answers and deliveries by notification") func timers() throws {
        let bench = try bench()
        try bench.submit(1..<11)
        bench.settle()
        bench.clock.advance(by: .milliseconds(40))
        bench.connection.sink(.confirmed(bench.connection.sent.map(\.ticket)))
        bench.settle()
        for name in [MetricName.answerTime, .deliveryTime] {
            let timer = try metrics.expectTimer(name.rawValue, [("route", "default")])
            #expect(timer.values == [Int64](repeating: 40_000_000, count: 10))
        }
        #expect(try metrics.expectTimer(MetricName.commitTime.rawValue).values.count >= 2)
        #expect(try metrics.expectRecorder(MetricName.commitEntries.rawValue).values == [10])
        #expect(try metrics.expectRecorder(MetricName.commitSettlements.rawValue).values == [10])
    }

    @Test("Ten answers of 1 ms and one of 10 s are eleven, whatever turn they come in") func quantiles() throws {
        let listener = RecordingListener()
        let bench = try Bench(listeners: [listener])
        try bench.submit(1..<12)
        bench.settle()
        bench.clock.advance(by: .milliseconds(1))
        let sent = bench.connection.sent.map(\.ticket)
        bench.connection.sink(.confirmed(Array(sent.prefix(10))))
        bench.settle()
        bench.clock.advance(by: .seconds(10))
        bench.connection.sink(.confirmed(Array(sent.suffix(1))))
        bench.settle()
        let total = listener.deliveries.reduce(into: [Int](repeating: 0, count: Latencies.bounds.count + 1)) {
            for (index, count) in $1.buckets.enumerated() { $0[index] += count }
        }
        #expect(total.first == 10 && total.reduce(0, +) == 11)
        let slow = try #require(Latencies.bounds.firstIndex { $0 > .seconds(10) })
        #expect(total[slow] == 1)
    }

    @Test("What was to be delivered later is timed from then on, and not from when it was accepted")
    func scheduled() throws {
        let listener = RecordingListener()
        let bench = try Bench(listeners: [listener])
        bench.answer = { _ in .confirmed }
        var later = Sample.notification(1)
        later.deliverAfter = bench.clock.wall.advanced(by: .seconds(600))
        try bench.submit([later])
        bench.advance(by: .seconds(700))
        #expect(listener.deliveries.map(\.count) == [1])
        #expect((listener.deliveries.first?.greatest ?? .seconds(600)) < .seconds(100))
    }

    @Test("A stop is counted by the kind of the condition it leads to") func stops() throws {
        let bench = try bench()
        bench.answer = { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        try bench.submit(1..<4)
        bench.settle()
        #expect(total(.stops, ["default", "credentials-refused"]) > 0)
    }

    @Test("Every metric that was made is a documented one, with its kind and its labels") func names() throws {
        let bench = try bench()
        bench.answer = { _ in SendResult(apnsStatus: 410, reason: "Unregistered") }
        try bench.submit(1..<11)
        bench.advance(by: .seconds(20))
        func check(_ label: String, _ dimensions: [(String, String)], _ kind: MetricName.Kind) {
            let name = MetricName(rawValue: label)
            #expect(name?.kind == kind, "\(label)")
            #expect(name?.labels == dimensions.map(\.0), "\(label)")
        }
        for metric in metrics.counters { check(metric.label, metric.dimensions, .counter) }
        for metric in metrics.meters { check(metric.label, metric.dimensions, .meter) }
        for metric in metrics.timers { check(metric.label, metric.dimensions, .timer) }
        for metric in metrics.recorders { check(metric.label, metric.dimensions, .recorder) }
        let made = Set(
            metrics.counters.map(\.label) + metrics.meters.map(\.label) + metrics.timers.map(\.label)
                + metrics.recorders.map(\.label))
        // Those come up with what they are about.
        #expect(
            Set(MetricName.allCases.map(\.rawValue)).subtracting(made) == [
                "holdfast_refused_total", "holdfast_holding", "holdfast_stops_total",
            ])
    }

    @Test("A service that makes up reasons makes no more than so many metrics") func foreign() throws {
        let exporter = SwiftMetricsExporter(factory: metrics, routes: ["default"])
        for number in 0..<1000 { exporter.rejected(1, reason: Reason(rawValue: "Reason\(number)"), route: "default") }
        #expect(metrics.counters(label: MetricName.rejected.rawValue).count == ReasonLabels.foreignLimit + 1)
        #expect(total(.rejected, ["default", "other"]) == Int64(1000 - ReasonLabels.foreignLimit))
    }

    @Test("An engine brings its metrics to the factory it is given, or to the one there is") func factories()
        async throws
    {
        let journal = InMemoryJournal()
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: InMemoryConnector())], metrics: metrics)
        _ = await engine.producer.submit([Sample.notification(1)])
        #expect(total(.submitted) == 1)
        let current = TestMetrics()
        let other = try withMetricsFactory(current) {
            try PushEngine(journal: InMemoryJournal(), routes: [Route(connector: InMemoryConnector())])
        }
        _ = await other.producer.submit([Sample.notification(1)])
        #expect(current.counterTotal(label: MetricName.submitted.rawValue) == 1)
    }
}
