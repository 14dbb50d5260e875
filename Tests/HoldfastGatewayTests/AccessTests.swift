import Foundation
import HoldfastTesting
import NIOSSL
import RawClients
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("Who may submit", .timeLimit(.minutes(1)))
struct AccessTests {
    private let authority: TestAuthority
    private let signer: TestSigner
    private static let everywhere = ListenAddress(host: "0.0.0.0", port: 0)

    init() throws {
        authority = try TestAuthority()
        signer = try TestSigner()
    }

    /// A world that is reached from elsewhere.
    private func withWorld(
        topics: [Set<String>?] = [[HTTP2World.topic]], keys: [SubmitterKey]? = nil, clients: TestAuthority? = nil,
        _ body: (HTTP2World, HTTP2Client) async throws -> Void
    ) async throws {
        let keys = try keys ?? [signer.submitter(topics: [HTTP2World.topic])]
        try await withHTTP2World(
            topics: topics,
            Change { http2 in
                http2.listen = Self.everywhere
                http2.tls = ServerTLS(identity: try authority.identity(), clientAuthorities: try clients?.trusted)
            }, gateway: Change { $0.submitters = keys }
        ) { world in
            let client = try await HTTP2Client.connect(port: world.port, tls: try authority.client())
            try await body(world, client)
        }
    }

    /// A world on this machine that asks for credentials all the same, and takes the signer's tokens.
    private func withAskingWorld(
        _ change: @escaping (inout HTTP2IngressConfiguration) -> Void = { _ in },
        _ body: (HTTP2World) async throws -> Void
    ) async throws {
        let keys = [try signer.submitter(topics: [HTTP2World.topic])]
        try await withHTTP2World(
            Change { http2 in
                http2.requiresCredentials = true
                change(&http2)
            }, gateway: Change { $0.submitters = keys }, body)
    }

    @Test("A provider token signed with the key of the topic's route lets its bearer submit")
    func takesToken() async throws {
        try await withWorld { world, client in
            for scheme in ["bearer", "Bearer"] {
                let answer = try await client.send(
                    HTTP2World.request([("authorization", try signer.authorization(scheme: scheme))]))
                #expect(answer.status == 200)
            }
            #expect(world.journal.entries.count == 2)
        }
    }

    @Test("Without a provider token nobody from elsewhere may submit")
    func missing() async throws {
        try await withWorld { world, client in
            for more in [[], [("authorization", "basic abc")], [("authorization", "bearer")]] {
                let answer = try await client.send(HTTP2World.request(more))
                #expect(answer.status == 403)
                #expect(answer.reason == "MissingProviderToken")
            }
            #expect(world.journal.entries.isEmpty)
        }
    }

    @Test("Where everybody has to show credentials, clients of this machine have to as well")
    func onLoopback() async throws {
        try await withAskingWorld { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).reason == "MissingProviderToken")
            let request = HTTP2World.request([("authorization", try signer.authorization())])
            #expect(try await client.send(request).status == 200)
        }
        await #expect(throws: GatewayError.self) {
            try await withHTTP2World(Change { $0.requiresCredentials = true }) { _ in }
        }
    }

    @Test("A connection that shows no credentials is closed in time, whatever it says; one that has shown them is not")
    func strangersHaveNoTime() async throws {
        try await withAskingWorld {
            $0.limits.firstRequest = .milliseconds(300)
        } _: { world in
            let known = try await world.client()
            let request = HTTP2World.request([("authorization", try signer.authorization())])
            #expect(try await known.send(request).status == 200)
            // It asks, and is refused, all the time.
            let stranger = try await world.client()
            let asking = Task { while !Task.isCancelled { _ = try await stranger.send(HTTP2World.request()) } }
            defer { asking.cancel() }
            try await eventually("it is counted") { world.figures.faults["unproven"] == 1 }
            #expect(try await known.send(request).status == 200)
        }
    }

    @Test("Strangers that hold every place keep out nobody who has credentials")
    func strangersGo() async throws {
        try await withAskingWorld {
            $0.limits.connections = 8
            $0.limits.connectionsPerAddress = 8
        } _: { world in
            let request = HTTP2World.request([("authorization", try signer.authorization())])
            let known = try await world.client()
            #expect(try await known.send(request).status == 200)
            var strangers: [RawClient] = []
            for _ in 0..<7 {
                let stranger = try await RawClient(port: world.port)
                try await stranger.send(RawHTTP2.preface)
                strangers.append(stranger)
            }
            let another = try await world.client()
            #expect(try await another.send(request).status == 200)
            #expect(try await known.send(request).status == 200)
            #expect(world.figures.faults["unproven"] == 1)
            // The first that was taken in, which need not be the first that came.
            try await eventually("one of them is gone") { strangers.contains { $0.hasEnded } }
            #expect(strangers.count { $0.hasEnded } == 1)
            for stranger in strangers { await stranger.close() }
        }
    }

    @Test("A token that is not what it should be is invalid, in whatever it differs")
    func invalid() async throws {
        var other = try TestSigner()
        let stranger = try other.authorization()
        other = signer
        other.keyID = "ZZZ123DEFG"
        let unknownKey = try other.authorization()
        other.keyID = signer.keyID
        other.teamID = "ZZZ123GHIJ"
        let unknownTeam = try other.authorization()
        let good = try signer.authorization()
        let now = Int(Date().timeIntervalSince1970)
        let bad = try [
            stranger, unknownKey, unknownTeam, String(good.dropLast(2)), good + "AA", good + ".AA",
            "bearer " + String(repeating: "x", count: 3000), "bearer x.y.z",
            signer.authorization(header: #"{"alg":"none","kid":"ABC123DEFG"}"#),
            signer.authorization(header: #"{"kid":"ABC123DEFG"}"#),
            signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":"\#(now)"}"#),
            signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":\#(now),"iat":\#(now)}"#),
            signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":9223372036854775807}"#),
            signer.authorization(age: -3700), signer.authorization(age: -120),
            signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":\#(now),"nbf":\#(now + 300)}"#),
            signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":\#(now),"exp":\#(now - 10000)}"#),
            signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":\#(now),"exp":"tomorrow"}"#),
            signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":\#(now),"exp":-9223372036854775808}"#),
            signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":\#(now),"nbf":null}"#),
            signer.authorization(header: #"{"alg":"ES256","kid":"ABC123DEFG","crit":["b64"],"b64":false}"#),
            signer.authorization(writes: { TestSigner.der($0) + [0] }),
            signer.authorization(writes: { Array(TestSigner.der($0).dropLast()) }),
            signer.authorization(writes: { $0 + $0 }), signer.authorization(writes: { _ in [] }),
        ]
        try await withWorld { world, client in
            for authorization in bad {
                let answer = try await client.send(HTTP2World.request([("authorization", authorization)]))
                #expect(answer.status == 403, "\(authorization)")
                #expect(answer.reason == "InvalidProviderToken", "\(authorization)")
            }
            #expect(world.journal.entries.isEmpty)
            #expect(try await client.send(HTTP2World.request([("authorization", good)])).status == 200)
        }
    }

    @Test("A signature may be written as Java's libraries write it")
    func derSignature() async throws {
        try await withWorld { _, client in
            for age in 0..<8 {
                let authorization = try signer.authorization(age: age, writes: TestSigner.der)
                #expect(try await client.send(HTTP2World.request([("authorization", authorization)])).status == 200)
            }
        }
    }

    @Test("What a token says of its own time holds, within the hour")
    func ownTimes() async throws {
        let now = Int(Date().timeIntervalSince1970)
        try await withWorld { _, client in
            func reason(_ claims: String) async throws -> String? {
                let authorization = try signer.authorization(
                    claims: #"{"iss":"DEF123GHIJ","iat":\#(now - 60),\#(claims)}"#)
                return try await client.send(HTTP2World.request([("authorization", authorization)])).reason
            }
            #expect(try await reason(#""exp":\#(now + 600)"#) == nil)
            #expect(try await reason(#""nbf":\#(now - 5),"exp":\#(now + 9999),"aud":["x"]"#) == nil)
            #expect(try await reason(#""exp":\#(now - 1)"#) == "ExpiredProviderToken")
            #expect(try await reason(#""nbf":\#(now + 300)"#) == "InvalidProviderToken")
            // A sender's clock that is a little ahead.
            let ahead = try signer.authorization(age: -30)
            #expect(try await client.send(HTTP2World.request([("authorization", ahead)])).status == 200)
        }
    }

    @Test("A token older than an hour has expired")
    func expired() async throws {
        try await withWorld { _, client in
            let old = try await client.send(
                HTTP2World.request([("authorization", try signer.authorization(age: 3700))]))
            #expect(old.status == 403)
            #expect(old.reason == "ExpiredProviderToken")
            let new = try await client.send(
                HTTP2World.request([("authorization", try signer.authorization(age: 3500))]))
            #expect(new.status == 200)
        }
    }

    @Test("A key is good for the topics of its route, and for no others")
    func otherTopics() async throws {
        let second = try TestSigner()
        let rest = try TestSigner()
        let keys = [
            try signer.submitter(topics: [HTTP2World.topic]), try second.submitter(topics: ["com.example.second"]),
            try rest.submitter(),
        ]
        try await withWorld(topics: [[HTTP2World.topic], ["com.example.second"], nil], keys: keys) { _, client in
            func status(_ signer: TestSigner, _ topic: String) async throws -> String {
                let answer = try await client.send(
                    HTTP2World.request(topic: topic, [("authorization", try signer.authorization())]))
                return answer.reason ?? String(answer.status)
            }
            let told = [
                try await status(signer, HTTP2World.topic), try await status(signer, "com.example.second"),
                try await status(signer, "com.example.third"), try await status(second, "com.example.second"),
                try await status(second, HTTP2World.topic), try await status(rest, "com.example.third"),
                try await status(rest, HTTP2World.topic),
            ]
            #expect(
                told == [
                    "200", "TopicDisallowed", "TopicDisallowed", "200", "TopicDisallowed", "200", "TopicDisallowed",
                ])
        }
    }

    @Test("Who tries one token after the other is told that they are too many, and looked at no more")
    func tooMany() async throws {
        try await withWorld { world, client in
            var reasons: [String] = []
            for number in 0..<40 {
                let authorization = try signer.authorization(claims: #"{"iss":"DEF123GHIJ","iat":\#(number)}"#)
                let answer = try await client.send(HTTP2World.request([("authorization", authorization)]))
                reasons.append(answer.reason ?? "none")
                // The write limit, which is the interval.
                #expect(answer.headers["retry-after"] == (answer.status == 429 ? "30" : nil))
            }
            #expect(reasons.prefix(32).allSatisfy { $0 == "ExpiredProviderToken" })
            #expect(reasons.dropFirst(32).allSatisfy { $0 == "TooManyProviderTokenUpdates" })
            // Another connection is not concerned.
            let other = try await HTTP2Client.connect(port: world.port, tls: try authority.client())
            let good = try await other.send(HTTP2World.request([("authorization", try signer.authorization())]))
            #expect(good.status == 200)
        }
    }

    @Test("A client certificate of an authority that the listener knows lets its bearer submit, without a token")
    func certificate() async throws {
        let clients = try TestAuthority()
        try await withWorld(clients: clients) { world, bare in
            #expect(try await bare.send(HTTP2World.request()).reason == "MissingProviderToken")
            let client = try await HTTP2Client.connect(
                port: world.port, tls: try authority.client(certificateOf: clients))
            #expect(try await client.send(HTTP2World.request()).status == 200)
        }
    }

    @Test("A certificate of another authority ends the handshake")
    func strangersCertificate() async throws {
        let strangers = try TestAuthority()
        try await withWorld(clients: try TestAuthority()) { world, _ in
            let client = try await HTTP2Client.connect(
                port: world.port, tls: try authority.client(certificateOf: strangers))
            await #expect(throws: (any Error).self) { try await client.send(HTTP2World.request()) }
            try await eventually("it is counted") { world.figures.faults["tls"] == 1 }
        }
    }

    @Test("Of TLS 1.2 only suites that keep their secrets are spoken", arguments: [true, false])
    func suites(_ authenticates: Bool) async throws {
        try await withWorld { world, _ in
            var tls = try authority.client()
            tls.maximumTLSVersion = .tlsv12
            tls.cipherSuiteValues =
                authenticates
                ? [.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]
                : [.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_RSA_WITH_AES_128_GCM_SHA256]
            let client = try await HTTP2Client.connect(port: world.port, tls: tls)
            let request = HTTP2World.request([("authorization", try signer.authorization())])
            guard authenticates else {
                await #expect(throws: (any Error).self) { try await client.send(request) }
                return try await eventually("it is counted") { world.figures.faults["tls"] == 1 }
            }
            #expect(try await client.send(request).status == 200)
        }
    }

    @Test("Where only certificates count, a client without one is turned away in the handshake")
    func certificatesOnly() async throws {
        let clients = try TestAuthority()
        try await withWorld(keys: [], clients: clients) { world, bare in
            await #expect(throws: (any Error).self) { try await bare.send(HTTP2World.request()) }
            let client = try await HTTP2Client.connect(
                port: world.port, tls: try authority.client(certificateOf: clients))
            #expect(try await client.send(HTTP2World.request()).status == 200)
        }
    }

    @Test("A listener that others reach, and nobody could or everybody could use, does not start")
    func startsNot() async throws {
        func why(_ change: @escaping (inout HTTP2IngressConfiguration) throws -> Void) async throws -> String {
            let error = await #expect(throws: GatewayError.self) {
                try await withHTTP2World(
                    Change { http2 in
                        http2.listen = Self.everywhere
                        try change(&http2)
                    }
                ) { _ in }
            }
            #expect(error?.kind == .configuration)
            return error?.message ?? ""
        }
        #expect(try await why { _ in }.contains("without TLS"))
        #expect(
            try await why { $0.tls = ServerTLS(identity: try authority.identity()) }.contains("nobody could submit"))
    }

    @Test("On loopback everybody may submit, whatever token they show")
    func loopback() async throws {
        try await withHTTP2World(gateway: Change { $0.submitters = [try signer.submitter()] }) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            #expect(try await client.send(HTTP2World.request([("authorization", "bearer x")])).status == 200)
        }
    }

    @Test("A reload that names this machine's own address opens a listener to nobody: it listens where it did")
    func reloadElsewhere() async throws {
        try await withWorld { world, client in
            var configuration = GatewayConfiguration()
            configuration.http2 = HTTP2IngressConfiguration(
                listen: ListenAddress(host: "127.0.0.1", port: world.port),
                tls: ServerTLS(identity: try authority.identity()))
            configuration.http2?.streams = 77
            configuration.submitters = [try signer.submitter(topics: [HTTP2World.topic])]
            try world.gateway.reload(configuration)

            try await eventually("the stream limit follows") { try await client.streamLimit == 77 }
            let answer = try await client.send(HTTP2World.request())
            #expect(answer.reason == "MissingProviderToken")
            #expect(world.journal.entries.isEmpty)
        }
    }

    @Test("A reload exchanges keys and certificates, and open connections go on")
    func reload() async throws {
        let next = try TestSigner()
        try await withWorld { world, client in
            #expect(
                try await client.send(HTTP2World.request([("authorization", try signer.authorization())])).status == 200
            )
            let other = try TestAuthority()
            var configuration = GatewayConfiguration()
            var http2 = HTTP2IngressConfiguration(listen: Self.everywhere)
            http2.tls = ServerTLS(identity: try other.identity())
            http2.streams = 77
            configuration.http2 = http2
            configuration.submitters = [try next.submitter(topics: [HTTP2World.topic])]
            try world.gateway.reload(configuration)

            try await eventually("the stream limit follows") { try await client.streamLimit == 77 }
            let old = try await client.send(HTTP2World.request([("authorization", try signer.authorization())]))
            #expect(old.reason == "InvalidProviderToken")
            let new = try await client.send(HTTP2World.request([("authorization", try next.authorization())]))
            #expect(new.status == 200)
            // New connections are shown the new certificate.
            let fresh = try await HTTP2Client.connect(port: world.port, tls: try other.client())
            #expect(
                try await fresh.send(HTTP2World.request([("authorization", try next.authorization())])).status == 200)

            // What is wrong is said, and changes nothing.
            configuration.submitters = [SubmitterKey(.bytes(Array("no key".utf8)), keyID: "A", teamID: "B")]
            #expect(throws: GatewayError.self) { try world.gateway.reload(configuration) }
            #expect(
                try await client.send(HTTP2World.request([("authorization", try next.authorization())])).status == 200)
        }
    }
}
