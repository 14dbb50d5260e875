import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@Suite("The binary mock")
struct BinaryServerTests {
    @Test(
        "Number 500 of 1000 without a token: 499 taken, a status 2 that names it, nothing behind it",
        arguments: [false, true])
    func badOneInTheMiddle(tls: Bool) async throws {
        try await withBinaryServer(.with { $0.isCleartext = !tls }) { server async throws in
            let client = try await BinaryClient(server, tls: tls)
            client.send((1...1000).flatMap { Wire.full($0, token: $0 == 500 ? [] : nil) })
            #expect(try await client.everything() == Wire.error(2, 500))
            #expect(server.counters.taken == 499)
            #expect(server.counters.refused == [.missingToken: 1])
            #expect(server.counters.discardedBytes > 0)
            #expect(server.counters.responses == 1)
        }
    }

    @Test("Four sent, the second refused: an error (8, 2), one taken")
    func rejectedToken() async throws {
        let configuration = MockBinaryConfiguration.with { configuration in
            configuration.isCleartext = true
            configuration.rejections = [Wire.hex(Wire.token(2)).uppercased(): 8]
        }
        try await withBinaryServer(configuration) { server async throws in
            let client = try await BinaryClient(server)
            client.send((1...4).flatMap { Wire.enhanced($0) })
            #expect(try await client.everything() == Wire.error(8, 2))
            #expect(server.counters.taken == 1)
            #expect(server.counters.refused == [.invalidToken: 1])
        }
    }

    @Test("An error about command 0 names nobody")
    func simpleCommand() async throws {
        try await withBinaryServer(.with { $0.isCleartext = true }) { server async throws in
            let client = try await BinaryClient(server)
            client.send(Wire.enhanced(5) + Wire.simple(token: Wire.token(6)) + Wire.simple(token: [1]))
            #expect(try await client.everything() == Wire.error(5, 0))
            #expect(server.counters.taken == 2)
        }
    }

    @Test("Silence means taken: no answer to what is in order, and the connection stays")
    func silence() async throws {
        try await withBinaryServer(.with { $0.isCleartext = true }) { server async throws in
            let client = try await BinaryClient(server)
            client.send((1...100).flatMap { Wire.full($0) })
            try await eventually("all are taken") { server.counters.taken == 100 }
            #expect(client.bytes.isEmpty && !client.isOver)
            #expect(server.counters.openConnections == 1)
        }
    }

    @Test("Stopping says status 10 with the last good identifier on each connection")
    func shutdown() async throws {
        try await withBinaryServer(.with { $0.isCleartext = true }) { server async throws in
            let (busy, idle) = (try await BinaryClient(server), try await BinaryClient(server))
            busy.send((1...7).flatMap { Wire.full($0) } + Wire.full(8).prefix(20))
            try await eventually("what was sent is taken") {
                server.counters.taken == 7 && server.counters.openConnections == 2
            }
            try await server.stop()
            #expect(try await busy.everything() == Wire.error(10, 7))
            #expect(try await idle.everything() == Wire.error(10, 0))
        }
    }

    @Test("With client certificates required, only one of its authority's gets through")
    func clientCertificates() async throws {
        try await withBinaryServer(.with { $0.requiresClientCertificate = true }) { server async throws in
            let stranger = try await BinaryClient(server, tls: true)
            stranger.send(Wire.full(1))
            try await eventually("the stranger is sent away") { stranger.isOver }
            #expect(server.counters.taken == 0)
            let client = try await BinaryClient(
                port: server.port, authority: server.certificateAuthorityFile,
                identity: (server.clientCertificateFile, server.clientKeyFile))
            client.send(Wire.full(2) + Wire.barrier(3))
            #expect(try await client.everything() == Wire.error(2, 3))
            #expect(server.counters.taken == 1)
            #expect(try mode(of: server.clientKeyFile) == 0o600)
        }
    }

    @Test("The ledger has what an error proves taken, by the payload's id, its digest and the token")
    func ledger() async throws {
        try await withDirectory { directory in
            let path = directory + "/ledger.ndjson"
            try await withBinaryServer(.with { ($0.isCleartext, $0.ledgerPath) = (true, path) }) {
                server async throws in
                let client = try await BinaryClient(server)
                let payloads = [
                    #"{"aps":{"id":"no"},"id":"a\"b"}"#, #"{"id" : 42}"#, #"{"aps":{}}"#, #"{"aps":{}}"#, "[",
                ]
                for (index, payload) in payloads.enumerated() {
                    client.send(Wire.full(index + 1, token: Wire.token(9), payload: Array(payload.utf8)))
                }
                client.send(Wire.barrier(6))
                #expect(try await client.everything() == Wire.error(2, 6))
                let found = try lines(of: path)
                let token = Wire.hex(Wire.token(9))
                #expect(found.count == 5)
                #expect(found[0].hasPrefix(#"{"id":"a\"b","token":"\#(token)","identifier":1,"payload":""#), "\(found)")
                #expect(found[1].hasPrefix(#"{"id":"42","token""#))
                #expect(found[2].hasPrefix(#"{"token""#))
                let audit = try LedgerAudit(paths: [path])
                #expect(audit.acceptedLines == 5 && audit.damagedLines == 0)
                #expect(audit.distinctNotifications == 4)
                #expect(audit.contains(id: "42") && audit.contains(id: #"a"b"#) && !audit.contains(id: "no"))
            }
        }
    }

    @Test("Counted once for each: a hundred thousand over four connections")
    func underLoad() async throws {
        try await withDirectory { directory in
            let path = directory + "/ledger.ndjson"
            try await withBinaryServer(.with { $0.ledgerPath = path }) { server async throws in
                var clients: [BinaryClient] = []
                for _ in 0..<4 { clients.append(try await BinaryClient(server, tls: true)) }
                for (index, client) in clients.enumerated() {
                    let numbers = index * 2500 + 1...(index + 1) * 2500
                    client.send(numbers.flatMap { Wire.full($0, payload: Array(#"{"id":"n-\#($0)"}"#.utf8)) })
                    client.send(Wire.barrier(999_999))
                }
                for client in clients { #expect(try await client.everything() == Wire.error(2, 999_999)) }
            }
            let audit = try LedgerAudit(paths: [path])
            #expect(audit.acceptedLines == 10_000 && audit.distinctIDs == 10_000)
            #expect(audit.missing(from: (1...10_000).map { "n-\($0)" }).isEmpty)
        }
    }

    @Test("The observer sees each notification with all that it carries, and what became of it")
    func observer() async throws {
        let seen = SeenBinary()
        let configuration = MockBinaryConfiguration.with { configuration in
            configuration.isCleartext = true
            configuration.observer = { seen.add($0) }
        }
        try await withBinaryServer(configuration) { server async throws in
            let client = try await BinaryClient(server)
            client.send(Wire.full(3, payload: Array(#"{"id":"x"}"#.utf8)) + Wire.barrier(4))
            _ = try await client.everything()
        }
        let exchanges = seen.exchanges
        #expect(exchanges.map(\.isTaken) == [true, false])
        #expect(exchanges.map(\.status) == [nil, .missingToken])
        #expect(exchanges.map(\.notification.number) == [1, 2])
        #expect(exchanges.first?.notification.payloadID == "x")
        #expect(exchanges.first?.notification.token == Wire.token(3))
        #expect(exchanges.first?.notification.priority == 10)
        #expect(exchanges.last?.notification.isBarrier == true)
    }

    @Test("What makes no sense is refused at the start")
    func nonsense() async throws {
        for configure: (inout MockBinaryConfiguration) -> Void in [
            { $0.rejections = ["abcd": 8] }, { $0.rejections = [Wire.hex(Wire.token(1)): 10] }, { $0.payloadLimit = 0 },
        ] {
            var configuration = MockBinaryConfiguration()
            configure(&configuration)
            await #expect(throws: MockError.self) { _ = try await MockBinaryServer.start(configuration) }
        }
    }
}
