import CoreMetrics
import Foundation
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("Metrics as Prometheus reads them")
struct MetricsTests {
    private let registry = MetricsRegistry()

    @Test("Counters, meters, timers and recorders become counters, gauges and histograms, each with help and type")
    func kinds() throws {
        registry.makeCounter(label: "holdfast_submitted_total", dimensions: []).increment(by: 7)
        registry.makeMeter(label: "holdfast_in_flight", dimensions: [("route", "example")]).set(3.5)
        registry.makeTimer(label: "holdfast_commit_duration_seconds", dimensions: []).recordNanoseconds(2_000_000)
        let recorder = registry.makeRecorder(label: "holdfast_commit_entries", dimensions: [], aggregate: true)
        for value in [Int64(1), 10, 11, 20_000] { recorder.record(value) }
        registry.makeFloatingPointCounter(label: "watts", dimensions: []).increment(by: 0.25)
        let text = try PrometheusText(registry.text())
        #expect(text.value("holdfast_submitted_total") == 7)
        #expect(text.value("holdfast_in_flight", ["route": "example"]) == 3.5)
        #expect(text.value("watts") == 0.25)
        #expect(
            text.types == [
                "holdfast_submitted_total": "counter", "holdfast_in_flight": "gauge", "watts": "counter",
                "holdfast_commit_duration_seconds": "histogram", "holdfast_commit_entries": "histogram",
            ])
        #expect(text.helps["holdfast_submitted_total"] == "Notifications that were accepted, and are on disk.")
        // Nanoseconds become seconds.
        #expect(text.value("holdfast_commit_duration_seconds_sum") == 0.002)
        #expect(text.value("holdfast_commit_duration_seconds_bucket", ["le": "0.001"]) == 0)
        #expect(text.value("holdfast_commit_duration_seconds_bucket", ["le": "0.0025"]) == 1)
        // Buckets are cumulative, a bound belongs to its own, and the last holds all.
        #expect(text.value("holdfast_commit_entries_bucket", ["le": "10"]) == 2)
        #expect(text.value("holdfast_commit_entries_bucket", ["le": "30"]) == 3)
        #expect(text.value("holdfast_commit_entries_bucket", ["le": "+Inf"]) == 4)
        #expect(text.value("holdfast_commit_entries_count") == 4)
        #expect(text.value("holdfast_commit_entries_sum") == 20_022)
    }

    @Test("Labels hold what they are given, and what is no name becomes one")
    func escaping() throws {
        let odd = "a \"quoted\" \\ path\nand a second line, {ü}"
        registry.makeCounter(label: "1 odd.name", dimensions: [("the label", odd)]).increment(by: 1)
        let text = try PrometheusText(registry.text())
        #expect(text.value("_1_odd_name", ["the_label": odd]) == 1)
        let family = MetricFamily("x", .gauge, "two\nlines \\ and a \"quote\"", .infinity)
        #expect(
            MetricsRegistry().text([family]) == "# HELP x two\\nlines \\\\ and a \"quote\"\n# TYPE x gauge\nx +Inf\n")
    }

    @Test("The same name and labels are the same series, whoever asks for it")
    func again() throws {
        for route in ["a", "b", "a"] {
            let counter = Counter(label: "sent_total", dimensions: [("route", route)], factory: registry)
            counter.increment(by: 2)
            counter.destroy()
        }
        let text = try PrometheusText(registry.text())
        #expect(text.value("sent_total", ["route": "a"]) == 4 && text.value("sent_total", ["route": "b"]) == 2)
    }

    @Test("Latencies are added by bucket, and a label of one engine's series takes them away again")
    func latencies() throws {
        var tally = LatencyTally()
        tally.add(3, ticks: 10)
        tally.add(1, ticks: 50_000)
        let one = LabelledMetrics(registry, label: "journal", value: "one")
        let latencies = tally.take()
        for factory in [registry as any HistogramFactory, one] {
            factory.makeHistogram(label: "x_seconds", dimensions: [("route", "r")]).add(latencies)
        }
        var text = try PrometheusText(registry.text())
        for labels in [["route": "r"], ["route": "r", "journal": "one"]] {
            #expect(text.value("x_seconds_bucket", labels.merging(["le": "0.001"]) { $1 }) == 3)
            #expect(text.value("x_seconds_bucket", labels.merging(["le": "2.5"]) { $1 }) == 3)
            #expect(text.value("x_seconds_bucket", labels.merging(["le": "5"]) { $1 }) == 4)
            #expect(text.value("x_seconds_count", labels) == 4 && text.value("x_seconds_sum", labels) == 5.003)
        }
        one.remove()
        text = try PrometheusText(registry.text())
        #expect(text.value("x_seconds_count", ["route": "r", "journal": "one"]) == nil)
        #expect(text.value("x_seconds_count", ["route": "r"]) == 4)
    }

    @Test("A name of another kind, and one series too many, are let be and break nothing")
    func bounds() throws {
        registry.makeCounter(label: "x", dimensions: []).increment(by: 1)
        registry.makeMeter(label: "x", dimensions: []).set(9.0)
        for number in 0..<MetricsRegistry.greatestSeriesCount + 10 {
            registry.makeCounter(label: "many_total", dimensions: [("n", "\(number)")]).increment(by: 1)
        }
        let text = registry.text()
        #expect(text.contains("\nx 1\n") && !text.contains("x 9"))
        #expect(
            text.split(separator: "\n").count { $0.hasPrefix("many_total{") } == MetricsRegistry.greatestSeriesCount)
    }

    @Test("Every metric of the library has its line of help, and no other has one")
    func help() { #expect(Set(MetricHelp.standard.keys) == Set(MetricName.allCases.map(\.rawValue))) }

    @Test("What the system says of a process is there, and plausible")
    func process() throws {
        let text = try PrometheusText(registry.text(ProcessMetrics.families))
        #expect(try #require(text.value("process_resident_memory_bytes")) > 1_048_576)
        #expect(try #require(text.value("process_open_fds")) >= 3)
        #expect(try #require(text.value("process_max_fds")) >= 64)
        #expect(try #require(text.value("process_cpu_seconds_total")) >= 0)
        let age = Date().timeIntervalSince1970 - (try #require(text.value("process_start_time_seconds")))
        #expect((-5..<86_400).contains(age))
    }
}
