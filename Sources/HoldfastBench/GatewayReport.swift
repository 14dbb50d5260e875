internal import Foundation

/// The medians of all rounds, for people and for scripts.
struct GatewayReport {
    let command: BenchGatewayCommand
    var direct: [Yardstick.Run] = []
    var through: [GatewayBench.Run] = []

    init(command: BenchGatewayCommand) { self.command = command }

    private var accepted: Double { Quantile.median(through.map(\.acceptedPerSecond)) }
    private var yardstick: Double { Quantile.median(direct.map(\.perSecond)) }
    private var delivered: Double { Quantile.median(through.map(\.deliveredPerSecond)) }

    var text: String {
        func thousands(_ value: Double) -> String { String(format: "%.0f k/s", value / 1000) }
        return [
            "\(command.requests) requests, \(command.connections) connection(s) of \(command.streams) streams, payload "
                + "\(command.payload) bytes, \(command.noSync ? "no sync" : "full sync"), median of \(command.rounds)",
            "h2load to the mock                 \(thousands(yardstick))",
            "h2load through the gateway         \(thousands(accepted)), each on disk before its 200",
            "delivered and durably settled      \(thousands(delivered)), "
                + String(
                    format: "%.2f µs CPU each, %.0f MB private", Quantile.median(through.map(\.cpuMicroseconds)),
                    Quantile.median(through.map(\.privateMegabytes))),
            String(format: "ratio                              %.2f", accepted / yardstick),
            String(format: "ratio of what was delivered        %.2f", delivered / yardstick),
        ].joined(separator: "\n")
    }

    var json: String {
        JSONFigures.object(
            [
                ("count", Double(command.requests)), ("streams", Double(command.streams)),
                ("connections", Double(command.connections)), ("payload", Double(command.payload)),
                ("rounds", Double(command.rounds)), ("directPerSecond", yardstick), ("acceptedPerSecond", accepted),
                ("deliveredPerSecond", delivered), ("ratio", accepted / yardstick),
                ("deliveredRatio", delivered / yardstick),
                ("cpuMicroseconds", Quantile.median(through.map(\.cpuMicroseconds))),
                ("privateMegabytes", Quantile.median(through.map(\.privateMegabytes))),
            ], fullSync: !command.noSync)
    }
}

/// Single durable submissions beside single syncs.
struct GatewayLatencyReport {
    let command: BenchGatewayCommand
    /// Microseconds.
    var answers: [Double] = []
    var syncs: [Double] = []
    var commits: [Double] = []

    init(command: BenchGatewayCommand) { self.command = command }

    private func ratio(to floor: [Double]) -> Double { Quantile.of(answers, 0.99) / Quantile.of(floor, 0.99) }

    var text: String {
        func times(_ values: [Double]) -> String {
            String(format: "p50 %6.0f µs, p99 %6.0f µs", Quantile.of(values, 0.5), Quantile.of(values, 0.99))
        }
        return [
            "\(answers.count) requests, one at a time, \(command.rate) a second, payload \(command.payload) bytes",
            "a page written and synced          \(times(syncs))",
            "one notification committed         \(times(commits))",
            "200 from the gateway               \(times(answers))",
            String(format: "p99 of the answers, in p99 of a commit  %.2f", ratio(to: commits)),
            String(format: "p99 of the answers, in p99 of a sync    %.2f", ratio(to: syncs)),
        ].joined(separator: "\n")
    }

    var json: String {
        JSONFigures.object(
            [
                ("count", Double(answers.count)), ("rate", Double(command.rate)), ("payload", Double(command.payload)),
                ("answerP50Microseconds", Quantile.of(answers, 0.5)),
                ("answerP99Microseconds", Quantile.of(answers, 0.99)),
                ("syncP50Microseconds", Quantile.of(syncs, 0.5)), ("syncP99Microseconds", Quantile.of(syncs, 0.99)),
                ("commitP50Microseconds", Quantile.of(commits, 0.5)),
                ("commitP99Microseconds", Quantile.of(commits, 0.99)),
                ("ratioToCommit", ratio(to: commits)), ("ratio", ratio(to: syncs)),
            ], fullSync: !command.noSync)
    }
}
