import Holdfast
import HoldfastAPNsAnswers
import HoldfastLegacyAPNs
import HoldfastTesting
import RawClients
import Testing

@testable import HoldfastGateway

/// The listener, by what goes over the wire.
@Suite("The binary listener", .timeLimit(.minutes(1))) struct BinaryIngressTests {
    static func payload(_ number: Int) -> [UInt8] { Array(#"{"aps":{"alert":"\#(number)"}}"#.utf8) }

    static func request(_ number: Int, command: UInt8 = 2, token: [UInt8]? = nil) -> BinaryRequest {
        BinaryRequest(
            command: command, identifier: command == 0 ? nil : UInt32(number),
            token: token ?? SampleNotification.token(number).bytes, payload: payload(number))
    }

    static func bytes(_ requests: [BinaryRequest]) -> [UInt8] {
        var bytes: [UInt8] = []
        for request in requests { request.append(to: &bytes) }
        return bytes
    }

    private func wait(_ condition: () -> Bool) async -> Bool { await Patience(.seconds(10)).wait(for: condition) }

    @Test("Commands 0, 1 and 2 are on disk in the order in which they were written, and nothing is said of it")
    func commands() async throws {
        try await BinaryGateway.run { gateway in
            let client = try await RawClient(port: gateway.port)
            try await client.send(
                Self.bytes([Self.request(1, command: 0), Self.request(2, command: 1), Self.request(3, command: 2)]))
            #expect(await wait { gateway.payloads == (1...3).map(Self.payload) })
            #expect(gateway.journal.entries.allSatisfy { $0.producer == "gateway-binary" })
            #expect(client.received.isEmpty)
            try await client.closeOutput()
            #expect(await client.untilEnd() == [])
        }
    }

    @Test("1000 notifications, number 500 with a zero-length token: 499 are on disk when the error names it")
    func oneBad() async throws {
        try await BinaryGateway.run { gateway in
            let client = try await RawClient(port: gateway.port)
            let requests = (1...1000).map { Self.request($0, token: $0 == 500 ? [] : nil) }
            try await client.send(Self.bytes(requests))
            #expect(await client.untilEnd() == [8, 2, 0, 0, 1, 0xF4])
            #expect(gateway.payloads == (1...499).map(Self.payload))
            #expect(gateway.figures.refused == ["MissingDeviceToken": 1])
        }
    }

    @Test("Bytes that come one at a time are the same notifications")
    func pieces() async throws {
        try await BinaryGateway.run { gateway in
            let client = try await RawClient(port: gateway.port)
            for byte in Self.bytes([Self.request(1, command: 1), Self.request(2)]) { try await client.send([byte]) }
            #expect(await wait { gateway.payloads == [Self.payload(1), Self.payload(2)] })
        }
    }

    @Test("A blacklisted token is status 8, and what was written behind it is not on disk")
    func blacklisted() async throws {
        try await BinaryGateway.run { gateway in
            try await gateway.engine.blacklist.add([
                BlacklistEntry(
                    token: SampleNotification.token(3), reason: .unregistered, since: WallTime(seconds: 1),
                    learntAt: WallTime(seconds: 1), route: "default")
            ])
            let client = try await RawClient(port: gateway.port)
            try await client.send(Self.bytes((1...5).map { Self.request($0) }))
            #expect(await client.untilEnd() == [8, 8, 0, 0, 0, 3])
            #expect(gateway.payloads == [Self.payload(1), Self.payload(2)])
        }
    }

    @Test("A drain answers status 10 with the last one that is on disk")
    func drain() async throws {
        var client: RawClient?
        try await BinaryGateway.run { gateway in
            let sender = try await RawClient(port: gateway.port)
            try await sender.send(Self.bytes((1...7).map { Self.request($0) }))
            #expect(await wait { gateway.payloads.count == 7 })
            client = sender
        }
        #expect(await client?.untilEnd() == [8, 10, 0, 0, 0, 7])
    }

    @Test("While the journal is full nothing is answered, and when it has room what was written is on disk")
    func full() async throws {
        let journal = InMemoryJournal()
        journal.limitEntries(to: 2)
        try await BinaryGateway.run(journal: journal) { gateway in
            let client = try await RawClient(port: gateway.port)
            try await client.send(Self.bytes([Self.request(1), Self.request(2)]))
            #expect(await wait { gateway.payloads.count == 2 })
            try await client.send(Self.bytes([Self.request(3), Self.request(4, token: [])]))
            try await Task.sleep(for: .milliseconds(300))
            #expect(client.received.isEmpty)
            journal.limitEntries(to: nil)
            #expect(await client.untilEnd() == [8, 2, 0, 0, 0, 4])
            #expect(gateway.payloads.count == 3)
        }
    }

    @Test("A journal that stays full sends the client away with the last one that is on disk")
    func fullForLong() async throws {
        let journal = InMemoryJournal()
        journal.limitEntries(to: 2)
        try await BinaryGateway.run(journal: journal, patience: .milliseconds(300)) { gateway in
            let client = try await RawClient(port: gateway.port)
            try await client.send(Self.bytes([Self.request(1), Self.request(2)]))
            #expect(await wait { gateway.payloads.count == 2 })
            try await client.send(Self.bytes([Self.request(3)]))
            #expect(await client.untilEnd() == [8, 10, 0, 0, 0, 2])
            #expect(gateway.figures.unanswered == 1)
        }
    }

    @Test("A commit of which nobody knows closes the connection without a word")
    func undetermined() async throws {
        let journal = InMemoryJournal()
        try await BinaryGateway.run(journal: journal) { gateway in
            journal.breakNextCommit(leaving: .nothing)
            let client = try await RawClient(port: gateway.port)
            try await client.send(Self.bytes([Self.request(1), Self.request(2, token: [])]))
            #expect(await client.untilEnd() == [])
        }
    }

    @Test("What a client wrote before it vanished is on disk")
    func vanished() async throws {
        try await BinaryGateway.run { gateway in
            let client = try await RawClient(port: gateway.port)
            try await client.send(Self.bytes((1...500).map { Self.request($0) }))
            await client.close()
            #expect(await wait { gateway.payloads.count == 500 })
        }
    }
}
