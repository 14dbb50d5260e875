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
    /// That may be promoted.
    private let standby: Cluster?
    private let hosts = Monitor<[String: RunningTool]>([:])

    convenience init(_ names: String...) async throws { try await self.init(on: Self.server.get(), names) }

    /// - Parameter standby: of the cluster; its address is behind the cluster's in all connection strings.
    init(on cluster: Cluster, or standby: Cluster? = nil, _ names: [String]) async throws {
        (self.cluster, self.standby) = (cluster, standby)
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
        try folder.write("page-token", Self.pageToken)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder("page-token"))
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
              postgres: \(database("user=\(user) password=not-to-be-seen", port: port))
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
            admin: {listen: "127.0.0.1:0", token-file: page-token}
            """)
    }

    private func database(_ more: String, port: Int?) -> String {
        guard let standby else { return cluster.tcp(more, port: port) }
        return "host=127.0.0.1,127.0.0.1 port=\(cluster.port),\(standby.port) dbname=postgres sslmode=disable "
            + "target_session_attrs=read-write \(more)"
    }

    /// Of the operators' pages.
    static let bearer = "authorization: Bearer \(pageToken)\r\ncontent-type: application/json\r\n"
    private static let pageToken = "0123456789abcdef0123456789abcdef"

    /// What the admin listener of a host answers.
    ///
    /// - Parameter body: of a POST by who has the operators' token; nil for a GET.
    func page(_ host: String, _ path: String, body: String? = nil) async throws -> (status: Int, text: String) {
        let words = "health and metrics on 127.0.0.1:"
        let log = try log(host)
        // Of its last start.
        let start = try #require(log.range(of: words, options: .backwards))
        let port = try #require(Int(log[start.upperBound...].prefix { $0.isNumber }))
        let answer = try await ServiceWorld.ask(port, path, fields: body == nil ? "" : Self.bearer, body: body)
        let head = try #require(answer.range(of: "\r\n\r\n"))
        return (Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0, String(answer[head.upperBound...]))
    }

    /// What a host has logged.
    func log(_ host: String) throws -> String { try hosts.withLock { $0[host] }?.errors ?? "" }

    /// Waits until a host has ended.
    func wait(for name: String) async throws {
        let tool = try #require(hosts.withLock { $0[name] })
        #expect(await waitUntil { !tool.isRunning })
    }

    /// Starts a host, and waits until it serves.
    func serve(_ name: String) async throws {
        try configure(name, user: service)
        let tool = try Tool.start(["serve", "--config", configuration(name)])
        hosts.withLock { $0[name] = tool }
        let serves = try await waitUntil {
            try !tool.isRunning
                || (tool.errors.contains("serving http2 on ") && tool.errors.contains("health and metrics on "))
        }
        let log = try tool.errors
        try #require(serves && tool.isRunning, "\(log)")
    }

    /// Leaves a journal behind as a host does that ends while it starts.
    func leaveUnopened(_ name: String) throws {
        try cluster.psql(
            "SELECT \(schema).take_journal(\(schema).create_journal('\(name)'), 0, 0, '\(name)', now())")
    }

    /// From now on there is no room for a journal's tables.
    func fillDisk() throws {
        try cluster.psql(
            """
            CREATE FUNCTION \(schema).full_disk() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
                IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity LIKE '\(schema).log%') THEN
                    RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device';
                END IF;
            END $$
            """, "CREATE EVENT TRIGGER \(schema) ON ddl_command_end EXECUTE FUNCTION \(schema).full_disk()")
    }

    func emptyDisk() throws { try cluster.psql("DROP EVENT TRIGGER IF EXISTS \(schema)") }

    /// Whether a journal has an owner.
    func hasOwner(_ name: String) throws -> Bool {
        try cluster.psql("SELECT session_pid IS NOT NULL FROM \(schema).journals WHERE name = '\(name)'") == "t"
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
