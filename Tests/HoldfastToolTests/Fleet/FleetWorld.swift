import Foundation
import Holdfast
import HoldfastControl
import Scratch
import TestPostgres
import Testing

/// Hosts that share a database, each a `holdfast serve` of its own, and a machine of operators on which none runs.
final class FleetWorld: Sendable {
    static let topic = "com.example.app"

    /// Of its own: each host has some ten sessions.
    private static let server = Result { try Cluster(["max_connections": "100"]) }

    let cluster: Cluster
    let folder: TemporaryFolder
    let mock: MockProcess
    /// Of the hosts, and of the operators.
    let service: String
    let operators: String
    /// A role without any right.
    let stranger: String
    private let schema: String
    private let hosts = Monitor<[String: RunningTool]>([:])

    init(_ names: String...) async throws {
        cluster = try Self.server.get()
        folder = try TemporaryFolder()
        let suffix = UUID().uuidString.prefix(8).lowercased()
        (schema, service, operators) = ("s_\(suffix)", "service_\(suffix)", "operator_\(suffix)")
        stranger = "stranger_\(suffix)"
        for role in [service, operators, stranger] { try cluster.psql("CREATE ROLE \(role) LOGIN") }
        let made = try await Tool.run(
            "postgres", "migrate", "--database", cluster.socket, "--schema", schema, "--service", service,
            "--operators",
            operators)
        try #require(made.status == 0, "\(made.errors)")
        mock = try await MockProcess(in: folder)
        try configure("operator", user: operators)
        for name in names { try await serve(name) }
    }

    /// Of a machine by its name; nothing is there but that.
    func configuration(_ name: String) -> String { folder("\(name).yaml") }

    func configure(_ name: String, user: String, port: Int? = nil) throws {
        try folder.write(
            "\(name).yaml",
            """
            journal:
              postgres: \(cluster.tcp("user=\(user) password=not-to-be-seen", port: port))
              schema: \(schema)
              host: \(name)
              path: \(name)
            routes:
              - name: apns
                topics: [\(Self.topic)]
                endpoint: \(mock.endpoint)
                trust: certs/ca.pem
                signing-key: {file: certs/AuthKey.p8, key-id: MOCKKEYID1, team-id: MOCKTEAMID}
            gateway:
              http2: {listen: "127.0.0.1:0"}
            """)
    }

    /// Starts a host, and waits until it serves.
    func serve(_ name: String) async throws {
        try configure(name, user: service)
        let tool = try Tool.start(["serve", "--config", configuration(name)])
        hosts.withLock { $0[name] = tool }
        let serves = try await waitUntil { try !tool.isRunning || tool.errors.contains("serving http2 on ") }
        let log = try tool.errors
        try #require(serves && tool.isRunning, "\(log)")
    }

    func signal(_ name: String, _ number: Int32) { hosts.withLock { $0[name] }?.kill(number) }

    /// Runs a command on a machine of operators, with an operator's rights alone, or on a host.
    func tool(on machine: String = "operator", _ arguments: String...) async throws -> Tool.Result {
        try await tool(on: machine, arguments)
    }

    func tool(on machine: String, _ arguments: [String]) async throws -> Tool.Result {
        let result = try await Tool.start(arguments + ["--config", configuration(machine)]).result()
        #expect(!result.output.contains("not-to-be-seen") && !result.errors.contains("not-to-be-seen"))
        return result
    }

    static func token(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// Has a host accept notifications, to tokens by these numbers.
    func submit(to host: String, tag: String = "", _ numbers: ClosedRange<Int>) async throws -> [UID] {
        // A host that serves senders serves operators a moment later.
        var found: RemoteDesk?
        _ = try await waitUntilAsync {
            do { found = try await RemoteDesk(journal: folder("\(host)/own.journal")) } catch let error as ControlError
                where error.code == .notServed
            { return false }
            return true
        }
        let desk = try #require(found)
        let receipts = try await desk.submit(
            numbers.map { number in
                PushNotification(
                    token: try DeviceToken(Self.token(number)), topic: Self.topic,
                    payload: Array(#"{"aps":{"alert":"\#(number)"}}"#.utf8), priority: .immediate,
                    tag: Array(tag.utf8))
            })
        await desk.close()
        return try receipts.map { try #require($0.uid) }
    }

    deinit { hosts.withLock { hosts in for host in hosts.values { host.kill(SIGKILL) } } }
}
