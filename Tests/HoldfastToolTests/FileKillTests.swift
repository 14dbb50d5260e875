import Foundation
import Scratch
import Testing

/// The real service and the real `send`, both under kill -9.
@Suite("A file beside a service that is killed")
struct FileKillTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func serve() async throws -> RunningTool {
        let service = try Tool.start(["serve", "--config", folder("c.yaml")])
        let isReady = try await waitUntil {
            try service.errors.contains("route default delivers") || service.output.contains("route default delivers")
        }
        #expect(isReady)
        return service
    }

    @Test("Each line is accepted once, and is in the report once, whoever is killed")
    func killed() async throws {
        let mock = try await MockProcess(in: folder)
        try folder.write(
            "c.yaml",
            "journal:\n  path: \(folder("j"))\nroutes:\n  - name: default\n    endpoint: \(mock.endpoint)\n"
                + "    trust: \(mock.trust)\n    topics: [a]\ngateway:\n  http2:\n    listen: 127.0.0.1:0\n")
        let lines = (1...6000).map {
            #"{"token":"\#(OperatorWorld.token($0))","apns-topic":"a","payload":{"id":"n\#($0)"}}"#
        }
        try folder.write("in", lines.joined(separator: "\n") + "\n")
        let arguments = ["send", folder("in"), "--journal", folder("j"), "--report", folder("report")]
        var service = try await serve()
        let first = try Tool.start(arguments)
        #expect(try await waitUntil { try mock.taken() > 300 })
        service.kill(SIGKILL)
        _ = try await service.result()
        service = try await serve()
        #expect(try await waitUntil { try first.errors.contains("uses the journal now: going on") || !first.isRunning })
        first.kill(SIGKILL)
        _ = try await first.result()
        let second = try Tool.start(arguments + ["--resume", "--json"])
        // Without an owner it would want to be one, which it has no route for.
        #expect(try await waitUntil { try second.errors.contains("it takes the file") || !second.isRunning })
        let taken = try mock.taken()
        #expect(try await waitUntil { try mock.taken() > taken + 300 || !second.isRunning })
        service.kill(SIGKILL)
        _ = try await service.result()
        service = try await serve()
        let result = try await second.result()
        #expect(result.status == 0, "\(result.errors)")
        let report = try folder.read("report").split(separator: "\n")
        #expect(
            report.count == 6000 && report.allSatisfy { $0.contains("\"outcome\":\"confirmed\"") },
            "\(result.output)\n\(result.errors)")
        #expect(Set(report.map { $0.prefix { $0 != "," } }).count == 6000)
        let status = try await Tool.run("journal", "status", "--json", "--journal", folder("j"))
        let totals = try #require(try status.json()["totals"] as? [String: Int])
        #expect(totals["accepted"] == 6000 && totals["confirmed"] == 6000)
        service.kill(SIGTERM)
        #expect(try await service.result().status == 0)
        let audit = try await Tool.run("mock", "audit", folder("ledger"), "--input", folder("in"), "--json")
        #expect(try audit.count("lost") == 0, "\(audit.output)")
    }
}
