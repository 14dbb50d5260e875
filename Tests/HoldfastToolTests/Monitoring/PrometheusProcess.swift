import Foundation
import NIOCore
import NIOPosix
import Scratch
import Testing

/// A Prometheus of Debian's, which reads the metrics of one service and evaluates the repository's rules.
final class PrometheusProcess: Sendable {
    struct Failure: Error { let words: String }

    /// Nil where Prometheus is not installed.
    static let program = find("prometheus")
    static let promtool = find("promtool")
    /// Skipped where it is not installed, unless HOLDFAST_REQUIRE_FOREIGN=1.
    static let isWanted =
        program != nil && promtool != nil || ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN"] == "1"

    private static func find(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (path.split(separator: ":") + ["/usr/bin"]).map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Where the rules and the dashboard are.
    static let monitoring = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Docs/Operate/Monitoring")

    private let folder: TemporaryFolder
    private let tool: RunningTool
    private let port: Int

    /// Starts it. What rules wait for they wait for no longer than for the next evaluation.
    init(reading metrics: Int) async throws {
        folder = try TemporaryFolder()
        let rules = try String(
            contentsOf: Self.monitoring.appendingPathComponent("alerts.yaml"), encoding: .utf8)
        try folder.write("alerts.yaml", rules.replacing(/\n        for: .*/, with: ""))
        try folder.write(
            "prometheus.yaml",
            """
            global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}
            rule_files: [alerts.yaml]
            scrape_configs:
              - job_name: holdfast
                static_configs: [{targets: ["127.0.0.1:\(metrics)"]}]
            """)
        port = try await Self.freePort()
        tool = try RunningTool(
            [
                "--config.file=\(folder("prometheus.yaml"))", "--storage.tsdb.path=\(folder("data"))",
                "--web.listen-address=127.0.0.1:\(port)", "--log.level=warn",
            ], program: try #require(Self.program, "prometheus is not installed: Scripts/bootstrap --tests"))
    }

    private static func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        try await channel.close()
        return port
    }

    /// What a query has found, each series with its labels; empty while Prometheus does not answer yet.
    func query(_ expression: String) async throws -> [(labels: [String: String], value: Double)] {
        let text = expression.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        guard let data = try await data(of: "/api/v1/query?query=\(text)") else { return [] }
        let result = try #require(data["result"] as? [[String: Any]])
        return result.compactMap { series in
            guard let pair = series["value"] as? [Any], let value = Double(pair.last as? String ?? "") else {
                return nil
            }
            return (series["metric"] as? [String: String] ?? [:], value)
        }
    }

    /// The names of the alerts that fire, each with the annotations of one.
    func alerts() async throws -> [String: [String: String]] {
        guard let data = try await data(of: "/api/v1/alerts") else { return [:] }
        var found: [String: [String: String]] = [:]
        for alert in data["alerts"] as? [[String: Any]] ?? [] where alert["state"] as? String == "firing" {
            let name = (alert["labels"] as? [String: String])?["alertname"] ?? ""
            found[name] = alert["annotations"] as? [String: String]
        }
        return found
    }

    /// - Throws: ``Failure`` for a query that is none.
    private func data(of path: String) async throws -> [String: Any]? {
        let answer: String
        do { answer = try await ServiceWorld.ask(port, path, version: "1.0") } catch {
            guard tool.isRunning else { throw Failure(words: try tool.errors) }
            return nil
        }
        guard let head = answer.range(of: "\r\n\r\n"), !answer.contains(" 503 ") else { return nil }
        let body = try JSONSerialization.jsonObject(with: Data(answer[head.upperBound...].utf8)) as? [String: Any]
        guard body?["status"] as? String == "success" else { throw Failure(words: "\(path): \(answer)") }
        return body?["data"] as? [String: Any]
    }
}
