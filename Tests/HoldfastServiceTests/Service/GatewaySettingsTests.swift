import Foundation
import Holdfast
import HoldfastGateway
import Scratch
import Testing

@testable import HoldfastService

@Suite("The sections gateway and admin")
struct GatewaySettingsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["ca.pem", "AuthKey.p8", "server.pem", "server.key", "server.p12", "pass.txt"] {
            try folder.write(name, "x")
        }
    }

    private func load(_ text: String, _ environment: [String: String] = [:]) throws(ConfigError)
        -> HoldfastConfiguration
    {
        do { try folder.write("holdfast.yaml", text) } catch { throw ConfigError([]) }
        return try HoldfastConfiguration.load(file: folder("holdfast.yaml"), environment: environment)
    }

    private func mistakes(_ text: String) throws -> [String] {
        do throws(ConfigError) {
            _ = try load(text)
            return []
        } catch {
            return error.lines.map { $0.replacingOccurrences(of: folder("holdfast.yaml"), with: "f") }
        }
    }

    private let text = """
        journal: {path: /var/lib/holdfast/push.journal}
        routes:
          - name: example
            topics: [com.example.app]
            endpoint: production            # or sandbox, or a URL
            trust: ca.pem                   # optional, PEM
            signing-key: {file: AuthKey.p8, key-id: ABC123DEFG, team-id: DEF123GHIJ}   # or certificate
        gateway:
          http2: {listen: "127.0.0.1:2197", certificate: server.pem, key: server.key}
          binary: {listen: "127.0.0.1:2195", certificate: server.pem, key: server.key, topic: com.example.app}
          feedback: {listen: "127.0.0.1:2196", certificate: server.pem, key: server.key, topic: com.example.app}
        admin: {listen: "127.0.0.1:2199"}
        """

    @Test("The example means what it says, and everything else has its default")
    func example() throws {
        let configuration = try load(text)
        let gateway = configuration.gateway.configuration(routes: configuration.routes)
        let tls = ServerTLS(identity: .pem(certificates: folder("server.pem"), key: folder("server.key")))
        let http2 = try #require(gateway.http2)
        #expect(http2.listen == ListenAddress(host: "127.0.0.1", port: 2197) && http2.tls == tls)
        #expect(http2.limits == ListenerLimits() && http2.streams == 1000 && http2.rate == nil)
        let binary = try #require(gateway.binary)
        #expect(binary.listen.port == 2195 && binary.tls == tls && binary.topic == "com.example.app")
        #expect(
            binary.limits == ListenerLimits()
                && binary.uncommitted == BinaryIngressConfiguration(listen: binary.listen).uncommitted)
        let feedback = try #require(gateway.feedback)
        #expect(feedback.listen.port == 2196 && feedback.tls == tls && feedback.topic == "com.example.app")
        #expect(gateway.drainLimit == GatewayConfiguration().drainLimit)
        var submitter = SubmitterKey(
            .file(folder("AuthKey.p8")), keyID: "ABC123DEFG", teamID: "DEF123GHIJ", topics: ["com.example.app"])
        submitter.environment = .production
        #expect(gateway.submitters == [submitter])
        #expect(configuration.admin.listen == ListenAddress(host: "127.0.0.1", port: 2199))
        #expect(configuration.admin.connections == AdminConfiguration(listen: http2.listen).connections)
    }

    @Test("Without the sections nothing listens")
    func nothing() throws {
        let configuration = try load("routes: [{endpoint: sandbox}]")
        #expect(configuration.gateway.listeners.isEmpty && configuration.admin.listen == nil)
    }

    @Test("Each key has its variable, and says what it is for")
    func everyKey() throws {
        let configuration = try load(
            text,
            [
                "HOLDFAST_GATEWAY_HTTP2_LISTEN": "[::1]:0", "HOLDFAST_GATEWAY_HTTP2_STREAMS": "7",
                "HOLDFAST_GATEWAY_HTTP2_CONNECTIONS": "3", "HOLDFAST_GATEWAY_HTTP2_CLIENTS": folder("ca.pem"),
                "HOLDFAST_GATEWAY_HTTP2_RATE_PER_SECOND": "50", "HOLDFAST_GATEWAY_BINARY_RATE_PER_SECOND": "0.5",
                "HOLDFAST_GATEWAY_BINARY_RATE_BURST": "9", "HOLDFAST_GATEWAY_BINARY_UNCOMMITTED": "11",
                "HOLDFAST_GATEWAY_BINARY_CLIENTS": folder("ca.pem"), "HOLDFAST_GATEWAY_HANDSHAKE_LIMIT": "1s",
                "HOLDFAST_GATEWAY_IDLE_LIMIT": "2s", "HOLDFAST_GATEWAY_WRITE_LIMIT": "3s",
                "HOLDFAST_GATEWAY_DRAIN_LIMIT": "4s", "HOLDFAST_ADMIN_LISTEN": "0.0.0.0:1",
                "HOLDFAST_ADMIN_EVERYBODY": "true", "HOLDFAST_ADMIN_CONNECTIONS": "5",
            ])
        let gateway = configuration.gateway.configuration(routes: configuration.routes)
        #expect(gateway.http2?.listen == ListenAddress(host: "::1", port: 0) && gateway.http2?.streams == 7)
        #expect(gateway.http2?.limits.connections == 3 && gateway.http2?.rate == RateLimit(perSecond: 50))
        #expect(gateway.http2?.tls?.clientAuthorities == .file(folder("ca.pem")))
        // Over HTTP/2 a provider token does as well; the binary protocol knows nobody else.
        #expect(gateway.http2?.tls?.requiresClientCertificate == false)
        #expect(gateway.binary?.tls?.requiresClientCertificate == true)
        #expect(gateway.binary?.uncommitted == 11 && gateway.binary?.rate == RateLimit(perSecond: 0.5, burst: 9))
        for limits in [gateway.http2?.limits, gateway.binary?.limits, gateway.feedback?.limits] {
            #expect(limits?.handshake == .seconds(1) && limits?.idle == .seconds(2) && limits?.write == .seconds(3))
        }
        #expect(gateway.drainLimit == .seconds(4))
        #expect(configuration.admin.listen?.host == "0.0.0.0" && configuration.admin.everybody)
        #expect(configuration.admin.connections == 5)
    }

    @Test("All mistakes are told at once, each with its place")
    func mistakes() throws {
        let told = try mistakes(
            """
            routes: [{endpoint: sandbox}]
            gateway:
              http2: {listen: "127.0.0.1:2197", key: server.key, rate: {burst: 3}}
              binary: {listen: "127.0.0.1:2197", certificate: server.p12, key: server.key, topic: a}
              feedback: {listen: "127.0.0.1"}
              drain-limt: 3s
            admin: {listen: "0.0.0.0:2199"}
            """)
        #expect(
            told == [
                "f:3:42: gateway.http2.key: needs http2.certificate: without it there is no TLS",
                "f:3:60: gateway.http2.rate.per-second: is missing; takes a number from 0.001 to 10000000",
                "f:4:20: gateway.binary.listen: is also where http2 listens: each has a port of its own",
                "f:4:68: gateway.binary.key: is for PEM files: a .p12 file holds its key",
                "f:5:22: gateway.feedback.listen: the address to listen on, \"127.0.0.1\", has no port from 0 to 65535 behind a colon",
                "f:6:3: gateway.drain-limt: is no key; did you mean drain-limit?",
                "f:7:17: admin.listen: is reached from elsewhere: say `everybody: true` if that is meant, or listen on 127.0.0.1",
            ], "\(told.joined(separator: "\n"))")
    }

    @Test("Host names and the binary listener have their environments, which a route must serve")
    func environments() throws {
        let text = """
            gateway:
              http2:
                listen: "127.0.0.1:0"
                hosts: {sandbox: [Sandbox.example.com, s.example.com], production: [push.example.com]}
              binary: {listen: "127.0.0.1:0", topic: a, environment: sandbox}

            """
        let both = try load(text + "routes: [{endpoint: sandbox}, {name: p, endpoint: production}]")
        let gateway = both.gateway.configuration(routes: both.routes)
        #expect(
            gateway.http2?.hosts == [
                "Sandbox.example.com": .sandbox, "s.example.com": .sandbox, "push.example.com": .production,
            ])
        #expect(gateway.binary?.environment == .sandbox)
        #expect(both.unusable() == [])
        #expect(try load(text + "routes: [{endpoint: 'https://h'}]").unusable() == [])
        let unserved = try load(text + "routes: [{endpoint: production}]").unusable().map(\.description)
        let file = folder("holdfast.yaml")
        #expect(
            unserved == [
                "\(file):4:22: gateway.http2.hosts.sandbox: no route serves the environment sandbox",
                "\(file):5:58: gateway.binary.environment: no route serves the environment sandbox",
            ])
        let told = try mistakes(
            """
            gateway:
              http2:
                listen: "127.0.0.1:0"
                hosts: {sandbox: ["a.example.com:443", "https://b", x.example.com], production: [X.example.com]}
              binary: {listen: "127.0.0.1:0", topic: a, environment: staging}
            """)
        #expect(told.count == 4, "\(told)")
        let first =
            #"f:4:22: gateway.http2.hosts.sandbox: "a.example.com:443" is no host name or address: give one as "#
        #expect(told.first == first + "push.example.com, 192.0.2.1 or [2001:db8::1], without a port", "\(told)")
        #expect(told.contains { $0.contains("is there twice: a name is for one environment") }, "\(told)")
    }

    @Test("The hosts of a listener are host names and addresses, and nothing else")
    func hosts() throws {
        func told(_ name: String) throws -> [String] {
            try mistakes(
                """
                gateway:
                  binary: {listen: "127.0.0.1:0", topic: a, hosts: {sandbox: [\(name.debugDescription)]}}
                """)
        }
        for name in ["a", "push.example.com", "PUSH_1.example.com", "192.0.2.1", "[::1]", "[2001:db8::1]"] {
            #expect(try told(name) == [], "\(name)")
        }
        let long = String(repeating: "a", count: 64)
        for name in [
            "a b", "*.example.com", "a..b", ".a", "bücher.example", "a,b", "::1", "[::1]:443", "[a]", "[1.2.3.4]", "a/",
            long,
        ] {
            let found = try told(name)
            #expect(
                found.count == 1 && found[0].contains("gateway.binary.hosts.sandbox: \"\(name)\" is no host"),
                "\(found)")
        }
    }

    @Test("A listener that others reach needs TLS, and somebody whom it serves")
    func strangers() throws {
        let clear = try mistakes("gateway: {http2: {listen: \"0.0.0.0:1\"}}")
        #expect(clear.count == 1 && clear[0].contains("needs TLS: give http2.certificate"), "\(clear)")
        let anonymous = try mistakes("gateway: {binary: {listen: \"0.0.0.0:1\", certificate: server.pem, topic: a}}")
        #expect(anonymous.count == 1 && anonymous[0].contains("give binary.clients"), "\(anonymous)")
        // Over HTTP/2 a route's signing key lets its holders in; without one nobody could.
        let text = "gateway: {http2: {listen: \"0.0.0.0:1\", certificate: server.pem}}\n"
        let routes = "routes: [{endpoint: sandbox, signing-key: {file: AuthKey.p8, key-id: K, team-id: T}}]\n"
        func told(_ text: String) throws -> [String] { try load(text).unusable().map(\.message) }
        #expect(try told(text + routes).contains { $0.contains("no route has a signing key") } == false)
        #expect(try told(text + "routes: [{endpoint: sandbox}]").contains { $0.contains("no route has a signing key") })
    }

    @Test("A listener of one topic needs a route for it, and without a topic it needs certificates that say theirs")
    func topics() throws {
        let text = "routes: [{endpoint: sandbox, topics: [b]}]\ngateway: {binary: {listen: \"127.0.0.1:1\", topic: a}}"
        #expect(
            try load(text).unusable().map(\.description).map { $0.suffix(47) }.first?.hasSuffix(
                #""a" is a topic of no route"#) == true)
        let without = try mistakes("gateway: {feedback: {listen: \"127.0.0.1:1\"}}")
        #expect(without.count == 1 && without[0].contains("needs feedback.topic, or feedback.clients"), "\(without)")
    }

    @Test("Senders are told outcomes by configuration, and only where outcomes are kept")
    func outcomes() throws {
        let text = """
            routes: [{endpoint: sandbox}]
            gateway:
              http2: {listen: "127.0.0.1:1", answer: {wait: 2s, waiting: 500}}
              binary: {listen: "127.0.0.1:2", topic: a, errors: true, errors-wait: 3s, errors-time: 1m, errors-limit: 70}
            """
        var configuration = try load(text)
        let gateway = configuration.gateway.configuration(routes: configuration.routes)
        #expect(gateway.http2?.answerWait == .seconds(2) && gateway.http2?.waiting == 500)
        #expect(gateway.binary?.tellsErrors == true && gateway.binary?.errorWait == .seconds(3))
        #expect(gateway.binary?.errorMemory == .seconds(60) && gateway.binary?.errorCount == 70)
        #expect(configuration.unusable().isEmpty, "\(configuration.unusable())")
        configuration.journal.history = .none
        let told = configuration.unusable().map(\.description)
        #expect(told.count == 2 && told.allSatisfy { $0.contains("`journal.history` is off") }, "\(told)")
        let wrong = try mistakes("gateway: {http2: {listen: \"127.0.0.1:1\", answer: {wait: 2h}}}")
        #expect(wrong.count == 1 && wrong[0].contains("http2.answer.wait"), "\(wrong)")
        let lonely = try mistakes("gateway: {http2: {listen: \"127.0.0.1:1\", answer: {waiting: 5}}}")
        #expect(lonely.count == 1 && lonely[0].contains("http2.answer.wait: is missing"), "\(lonely)")
    }

    @Test("A table of clients without an item is a mistake, and does not let everybody in")
    func emptyTable() throws {
        for text in ["clients: []", "clients:"] {
            let told = try mistakes("routes: [{endpoint: sandbox}]\n\(text)\n")
            #expect(told.count == 1 && told[0].contains("clients: has no item"), "\(told)")
        }
    }

    @Test("An item of the table of clients says which kind of name it means")
    func kindOfName() throws {
        let client = { (kind: String) in "clients: [{name: a, kind: \(kind)}]\nroutes: [{endpoint: sandbox}]\n" }
        for kind in ClientSubject.Kind.allCases {
            let values = try load(client(kind.rawValue)).values.filter { $0.section.name == "clients" }
            #expect(ClientSettings.subjects(values) == [ClientSubject("a", kind: kind)])
        }
        #expect(try mistakes(client("serial")).count == 1)
    }
}
