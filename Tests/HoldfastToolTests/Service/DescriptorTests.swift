import Foundation
import NIOCore
import NIOPosix
import Scratch
import Testing

@testable import HoldfastService
@testable import HoldfastTool

/// `holdfast serve` in a process that may open few files.
@Suite("A service without descriptors", .timeLimit(.minutes(1)))
struct DescriptorTests {
    /// Of the processor, so far: proc(5).
    private static func seconds(_ process: Int32) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        return (try #require(Double(fields[11])) + #require(Double(fields[12]))) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    /// With a configuration that serves senders and operators.
    private static func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(
            "c.yaml",
            """
            journal: {path: push.journal}
            routes: [{endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            admin: {listen: "127.0.0.1:0"}
            """)
        return folder
    }

    /// Whom too many come to.
    enum Door: CaseIterable { case control, admin }

    @Test(
        "More clients than it has descriptors for cost it no core, and it serves again when some have gone",
        arguments: Door.allCases)
    func exhausted(_ door: Door) async throws {
        let folder = try Self.folder()
        let tool = try RunningTool(
            ["-c", "ulimit -n 32; exec \"$0\" \"$@\"", Tool.path, "serve", "--config", folder("c.yaml")],
            program: "/bin/sh")
        _ = try await port(behind: "serving http2 on 127.0.0.1:", tool)
        let admin = try await port(behind: "health and metrics on 127.0.0.1:", tool)
        let socket = folder("push.journal/control.sock")
        #expect(await waitUntil { FileManager.default.fileExists(atPath: socket) })

        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        func connect() async throws -> any Channel {
            switch door {
            case .admin: try await bootstrap.connect(host: "127.0.0.1", port: admin).get()
            case .control: try await bootstrap.connect(unixDomainSocketPath: socket).get()
            }
        }
        let open = { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(tool.processIdentifier)/fd").count }
        var clients: [any Channel] = []
        // The control socket's queue is a short one: while it is full, another client is refused at once.
        #expect(
            try await waitUntilAsync {
                do {
                    while clients.count < 20 { clients.append(try await connect()) }
                } catch let error as IOError where error.errnoCode == EAGAIN {}
                return try open() >= 32
            })
        let before = try Self.seconds(tool.processIdentifier)
        try await Task.sleep(for: .seconds(1))
        #expect(try Self.seconds(tool.processIdentifier) - before < 0.2)

        for client in clients { try await client.close() }
        // At rest it has 30: what it looks at again and again takes a timer.
        #expect(try await waitUntil { try open() < 31 })
        if door == .control {
            // Those that have gone are still in its queue for a moment.
            #expect(
                try await waitUntilAsync {
                    let late = try await Tool.run("lanes", "list", "--journal", folder("push.journal"))
                    return late.status == 0 && !late.errors.contains("in the journal only")
                })
        } else {
            // Told what it should have spoken, or what it asked for, and closed.
            let late = try await connect()
            try await late.writeAndFlush(
                ByteBuffer(string: "GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")
            ).get()
            try await late.closeFuture.get()
        }
        tool.kill(SIGTERM)
        #expect(try await tool.result().status == 0)
    }

    @Test("However many clients come, descriptors are kept for health, operators and delivery, and that is told")
    func keptBack() async throws {
        let folder = try Self.folder()
        // The soft limit is raised; the hard one holds.
        let limits = "ulimit -Sn 64; ulimit -Hn 200; exec \"$0\" \"$@\""
        let plan = DescriptorPlan(try HoldfastConfiguration.load(file: folder("c.yaml")))
        let check = try await RunningTool(
            ["-c", limits, Tool.path, "serve", "--check", "--config", folder("c.yaml")], program: "/bin/sh"
        ).result()
        #expect(
            check.status == 0 && check.output.contains("warning: this process may have 200 files"), "\(check.output)")

        let tool = try RunningTool(
            ["-c", limits, Tool.path, "serve", "--config", folder("c.yaml")], program: "/bin/sh")
        let gateway = try await port(behind: "serving http2 on 127.0.0.1:", tool)
        let admin = try await port(behind: "health and metrics on 127.0.0.1:", tool)
        // It is told once all that may keep descriptors runs.
        #expect(
            try await waitUntil {
                try tool.errors.contains("together the listeners get \(plan.room(within: 200))")
            })
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        var clients: [any Channel] = []
        for _ in 0..<250 { clients.append(try await bootstrap.connect(host: "127.0.0.1", port: gateway).get()) }
        #expect(await waitUntil { clients.count(where: \.isActive) == plan.room(within: 200) })
        #expect(
            try await waitUntil { try tool.errors.contains("the listeners have as many open as this process may have") }
        )

        // What was turned away is counted at the next look at what is wrong.
        let isCounted = try await waitUntilAsync {
            let status = try await Tool.run("status", "--journal", folder("push.journal"))
            #expect(status.status == 1 && status.output.contains("warning descriptors-short"), "\(status.output)")
            return status.output.contains(" connections were turned away: this process")
        }
        #expect(isCounted)
        let metrics = try await ServiceWorld.ask(admin, "/metrics")
        #expect(metrics.contains("holdfast_gateway_connections_limit{listener=\"http2\"} \(plan.room(within: 200))\n"))
        #expect(metrics.contains("holdfast_gateway_faults_total{listener=\"http2\",fault=\"connections\"} 0\n"))

        try await expectProbeOperatorsAndReload(tool, folder, admin: admin)

        for client in clients where client.isActive { try await client.close() }
        #expect(try await waitUntilAsync { try await isLetIn(at: gateway) })
        tool.kill(SIGTERM)
        #expect(try await tool.result().status == 0)
    }

    @Test("Idle connections to the admin page leave descriptors for the probe, operators and a reload")
    func idlePage() async throws {
        let folder = try Self.folder()
        let tool = try RunningTool(
            ["-c", "ulimit -n 64; exec \"$0\" \"$@\"", Tool.path, "serve", "--config", folder("c.yaml")],
            program: "/bin/sh")
        _ = try await port(behind: "serving http2 on 127.0.0.1:", tool)
        let admin = try await port(behind: "health and metrics on 127.0.0.1:", tool)
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        var clients: [any Channel] = []
        for _ in 0..<60 { clients.append(try await bootstrap.connect(host: "127.0.0.1", port: admin).get()) }
        #expect(await waitUntil { clients.count(where: \.isActive) == 4 })

        try await expectProbeOperatorsAndReload(tool, folder, admin: admin)
        tool.kill(SIGTERM)
        #expect(try await tool.result().status == 0)
    }

    /// A probe is answered, an operator is served, and a reload is taken up.
    private func expectProbeOperatorsAndReload(
        _ tool: RunningTool, _ folder: TemporaryFolder, admin: Int
    ) async throws {
        let probe = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: admin).get()
        try await probe.writeAndFlush(
            ByteBuffer(string: "GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        ).get()
        try await probe.closeFuture.get()
        let listed = try await Tool.run("lanes", "list", "--journal", folder("push.journal"))
        #expect(listed.status == 0 && !listed.errors.contains("in the journal only"), "\(listed.errors)")
        tool.kill(SIGHUP)
        #expect(try await waitUntil { try tool.errors.contains("the configuration was read again and is taken up") })
    }

    /// Who is let in hears the gateway's SETTINGS at once.
    private func isLetIn(at port: Int) async throws -> Bool {
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await client.executeThenClose { inbound, _ in
            for try await _ in inbound { return true }
            return false
        }
    }

    private func port(behind words: String, _ tool: RunningTool) async throws -> Int {
        #expect(try await waitUntil { try tool.errors.contains(words) })
        let line = try #require(try tool.errors.split(separator: "\n").first { $0.contains(words) })
        return try #require(line.split(separator: ":").last.flatMap { Int($0) })
    }
}
