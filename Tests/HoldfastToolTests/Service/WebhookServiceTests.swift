import BuiltProgram
import Foundation
import Holdfast
import Scratch
import Testing

/// `holdfast serve` with a webhook, before an HTTP server that we did not write.
@Suite("Webhooks of a running service", .serialized, .timeLimit(.minutes(3)))
struct WebhookServiceTests {
    private static let secret = "whsec_QWxsIHRoYXQgd2FzIGFjY2VwdGVkIGlzIHRvbGQu"

    /// A receiver in a process of its own.
    private final class Receiver {
        let tool: RunningTool
        private let folder: TemporaryFolder

        init(_ folder: TemporaryFolder, port: Int = 0) async throws {
            self.folder = folder
            if !FileManager.default.fileExists(atPath: folder("mode")) { try folder.write("mode", "ok") }
            let program = BuiltProgram.root.appendingPathComponent("Tests/ForeignServers/webhook_receiver.py").path
            tool = try RunningTool(
                [
                    "python3", program, "--port", "\(port)", "--log", folder("told"), "--mode", folder("mode"),
                    "--secret",
                    WebhookServiceTests.secret,
                ], program: "/usr/bin/env")
            let tool = tool
            try #require(try await waitUntil { try tool.output.hasPrefix("listening ") })
        }

        var port: Int {
            get throws { try #require(Int(try tool.output.dropFirst(10).prefix { $0.isNumber })) }
        }

        /// The cursors that it stored, in its order.
        var cursors: [Int] {
            get throws {
                guard FileManager.default.fileExists(atPath: folder("told")) else { return [] }
                return try folder.read("told").split(separator: "\n").flatMap { line -> [Int] in
                    let request = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    guard request?["stored"] as? Bool == true else { return [] }
                    return (request?["outcomes"] as? [[Any]] ?? []).compactMap { $0.first as? Int }
                }
            }
        }
    }

    private func configure(_ world: ServiceWorld, port: Int, more: String = "", batch: Int = 50) throws {
        try world.folder.write("secret", Self.secret)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.folder("secret"))
        try world.writeConfiguration(
            more: """
                webhooks:
                  - name: crm
                    url: "http://127.0.0.1:\(port)/told?key=hidden"
                    secret-file: secret
                    batch: \(batch)
                    timeout: 1s
                    retry: {minimum: 20ms, maximum: 200ms}
                \(more)
                """)
    }

    @Test(
        "A dead receiver is seen in status, health, metrics and log, holds up nothing, and has everything when it is back"
    )
    func dead() async throws {
        let world = try await ServiceWorld()
        let receiver = try await Receiver(world.folder)
        let port = try receiver.port
        try configure(world, port: port)
        try await world.serve()
        receiver.tool.kill(SIGKILL)
        _ = try await receiver.tool.result()
        #expect(try await world.send(200, journal: "one").result().status == 0)
        let journal = world.folder("push.journal")
        #expect(
            try await waitUntilAsync {
                let status = try await Tool.run("journal", "status", "--journal", journal, "--json").json()
                let reader = (status["ownReaders"] as? [[String: Any]])?.first
                let trouble = reader?["trouble"] as? String ?? ""
                return reader?["reader"] as? String == "webhook/crm" && reader?["unread"] as? Int == 200
                    && trouble.contains("http://127.0.0.1:\(port) has taken nothing since")
                    && !trouble.contains("hidden")
                    && status["unconfirmed"] as? Int == 0
            })
        let words = try await Tool.run("journal", "status", "--journal", journal).output
        #expect(words.contains("webhook/crm: http://127.0.0.1:\(port) has taken nothing since"), "\(words)")
        let health = try await world.get("/health/ready")
        #expect(
            health.status == 200 && health.text.contains("warning: webhook crm: http://127.0.0.1:\(port) has taken"))
        let metrics = try await world.get("/metrics").text
        for line in [
            "waiting{webhook=\"crm\"} 200\n", "failing{webhook=\"crm\"} 1\n", "delivered_total{webhook=\"crm\"} 0\n",
        ] {
            #expect(metrics.contains("\nholdfast_webhook_" + line), "\(metrics)")
        }
        let back = try await Receiver(world.folder, port: port)
        #expect(try await waitUntil { try Set(back.cursors).count == 200 })
        #expect(try back.cursors == Array(1...200))
        #expect(
            try await waitUntilAsync {
                try await world.get("/metrics").text.contains("holdfast_webhook_waiting{webhook=\"crm\"} 0\n")
            })
        let log = try world.log.split(separator: "\n").filter { $0.contains("webhook crm") }
        #expect(log.count == 2 && !log.contains { $0.contains("hidden") || $0.contains("whsec") }, "\(log)")
        #expect(try await world.stop().status == 0)
        back.tool.kill(SIGKILL)
    }

    @Test("A reload exchanges webhooks, and each goes on where it was; a wrong one changes nothing") func reload()
        async throws
    {
        let world = try await ServiceWorld()
        let receiver = try await Receiver(world.folder)
        let port = try receiver.port
        try configure(world, port: port)
        let service = try await world.serve()
        #expect(try await world.send(60, journal: "one").result().status == 0)
        #expect(try await waitUntil { try receiver.cursors.count == 60 })
        try configure(world, port: port, batch: 7)
        service.kill(SIGHUP)
        #expect(try await waitUntil { try world.log.contains("is taken up; routes") })
        #expect(try await world.send(60, journal: "two").result().status == 0)
        #expect(try await waitUntil { try receiver.cursors.count == 120 })
        #expect(try receiver.cursors == Array(1...120))
        try world.folder.write("secret", "nothing")
        service.kill(SIGHUP)
        #expect(try await waitUntil { try world.log.contains("webhooks[0].secret-file: the file") })
        #expect(try await world.send(5, journal: "three").result().status == 0)
        #expect(try await waitUntil { try receiver.cursors.count == 125 })
        // Taken out of the configuration and put back, it has lost nothing.
        try world.writeConfiguration()
        service.kill(SIGHUP)
        #expect(try await waitUntilAsync { try await !world.get("/metrics").text.contains("holdfast_webhook_") })
        #expect(try await world.send(5, journal: "four").result().status == 0)
        try configure(world, port: port)
        service.kill(SIGHUP)
        #expect(try await waitUntil { try receiver.cursors == Array(1...130) })
        #expect(try await world.stop().status == 0)
        receiver.tool.kill(SIGKILL)
    }

    @Test("An outcome that the receiver refuses by itself is passed over, and log, status and metrics say so")
    func passedOver() async throws {
        let world = try await ServiceWorld()
        try world.folder.write("mode", "refuses-37")
        let receiver = try await Receiver(world.folder)
        try configure(world, port: try receiver.port)
        let service = try await world.serve()
        #expect(try await world.send(200, journal: "one").result().status == 0)
        #expect(try await waitUntil { try receiver.cursors.last == 200 })
        // The one before is told again, to see whether the receiver takes anything.
        var told: [Int] = []
        for cursor in try receiver.cursors where !told.contains(cursor) { told.append(cursor) }
        #expect(told == Array(1...36) + Array(38...200))
        let journal = world.folder("push.journal")
        let words = try await Tool.run("journal", "status", "--journal", journal).output
        #expect(words.contains("1 outcome was passed over"), "\(words)")
        #expect(try await world.get("/metrics").text.contains("\nholdfast_webhook_skipped_total{webhook=\"crm\"} 1\n"))
        #expect(try service.errors.contains("`holdfast outcomes list --journal \(journal) --after 36 --limit 1`"))
    }
}
