import Foundation
import HoldfastHTTP2
import HoldfastTesting
import RawClients
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("HTTP/2: connections", .timeLimit(.minutes(1)))
struct HTTP2ConnectionTests {
    private static let body = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

    private func requests(_ numbers: Range<Int>) -> [(headers: [(String, String)], body: [UInt8])] {
        numbers.map { (HTTP2World.request(token: HTTP2World.token($0)), Self.body) }
    }

    @Test("Over TLS, requests of many streams and connections are all answered")
    func manyOverTLS() async throws {
        let authority = try TestAuthority()
        try await withHTTP2World(Change { $0.tls = ServerTLS(identity: try authority.identity()) }) { world in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for connection in 0..<4 {
                    group.addTask {
                        let client = try await HTTP2Client.connect(port: world.port, tls: try authority.client())
                        let first = connection * 1000
                        let answers = try await client.sendAll(self.requests(first..<first + 500))
                        return try answers.filter { try $0.get().status == 200 }.count
                    }
                }
                for try await count in group { #expect(count == 500) }
            }
            #expect(world.journal.entries.count == 2000)
        }
    }

    @Test("A client that offers no protocol in TLS is served when it speaks HTTP/2: the preface tells")
    func withoutALPN() async throws {
        let authority = try TestAuthority()
        try await withHTTP2World(Change { $0.tls = ServerTLS(identity: try authority.identity()) }) { world in
            let client = try await HTTP2Client.connect(port: world.port, tls: try authority.client(protocols: []))
            #expect(try await client.send(HTTP2World.request()).status == 200)
        }
    }

    @Test("What is neither HTTP/2 nor HTTP/1.1 gets a GOAWAY, and the connection ends")
    func garbage() async throws {
        try await withHTTP2World { world in
            let answer = try await RawHTTP2.exchange(port: world.port, Array("no HTTP at all\r\n\r\n".utf8))
            // SETTINGS, WINDOW_UPDATE, and then GOAWAY with PROTOCOL_ERROR.
            #expect(answer?.count ?? 0 > 17)
            #expect(String(decoding: answer ?? [], as: UTF8.self).contains("no HTTP/2 preface"))
            try await eventually("it is counted") { world.figures.faults["protocol"] == 1 }
        }
    }

    @Test("A client that says nothing is closed when its time is over, and one that has spoken is not")
    func handshake() async throws {
        try await withHTTP2World(Change { $0.limits.handshake = .milliseconds(100) }) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            let silent = try await RawHTTP2.exchange(port: world.port, [])
            #expect(silent?.isEmpty == false)
            #expect(world.figures.faults["handshake"] == 1)
            #expect(try await client.send(HTTP2World.request()).status == 200)
        }
    }

    @Test("TLS that stops half way costs a connection until its time is over")
    func halfOpenTLS() async throws {
        let authority = try TestAuthority()
        try await withHTTP2World(
            Change {
                $0.tls = ServerTLS(identity: try authority.identity())
                $0.limits.handshake = .milliseconds(100)
            }
        ) { world in
            // The beginning of a record that says it holds a ClientHello.
            let answer = try await RawHTTP2.exchange(port: world.port, [22, 3, 1, 2, 0, 1, 0])
            #expect(answer == [])
            // What TLS has to say of its end is not counted beside it.
            try await eventually("it is gone") { world.gateway.figures[0].openConnections == 0 }
            #expect(world.figures.faults == ["handshake": 1])
        }
    }

    @Test("A connection that nobody uses is closed in order after the idle limit")
    func idle() async throws {
        try await withHTTP2World(Change { $0.limits.idle = .milliseconds(100) }) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            try await client.untilClosed()
            #expect(try await client.goAways.map(\.code.rawValue) == [0])
            #expect(world.figures.faults["idle"] == 1)
        }
    }

    @Test("A request that does not end is given up, and the connection's other requests go on")
    func slowloris() async throws {
        try await withHTTP2World(Change { $0.limits.write = .milliseconds(100) }) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            // HEADERS without END_STREAM on stream 3: the client's session does not know of it.
            let slow = try await RawClient(port: world.port)
            try await slow.send(RawHTTP2.preface + RawHTTP2.headers(streamID: 1, endStream: false))
            try await eventually("it is reset") { (world.figures.faults["slow"] ?? 0) == 1 }
            #expect(try await client.send(HTTP2World.request()).status == 200)
            #expect(!slow.hasEnded)
            await slow.close()
        }
    }

    @Test("A client that goes in the middle of a request is counted as one that did, and no other")
    func incomplete() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            try await client.close()
            let gone = try await RawClient(port: world.port)
            try await gone.send(RawHTTP2.preface + RawHTTP2.headers(streamID: 1, endStream: false))
            await gone.close()
            try await eventually("it is counted") { world.figures.faults["incomplete"] == 1 }
            #expect(world.figures.faults == ["incomplete": 1])
        }
    }

    @Test("Many connections that begin requests and end none lose them together, and one that ends its own goes on")
    func manyThatEndNothing() async throws {
        // Room for a few hundred requests that have only begun; each connection alone may have more.
        try await withHTTP2World(Change { $0.memory = 64 << 10 }) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            let modest = try await RawClient(port: world.port)
            try await modest.send(RawHTTP2.preface + RawHTTP2.headers(streamID: 1, endStream: false))
            var greedy: [RawClient] = []
            for _ in 0..<8 {
                let client = try await RawClient(port: world.port)
                let headers = (0..<40).flatMap { RawHTTP2.headers(streamID: UInt32(2 * $0 + 1), endStream: false) }
                try await client.send(RawHTTP2.preface + headers)
                greedy.append(client)
            }
            // As many as were too many: with the others gone, the rest have room.
            try await eventually("some are closed") { (world.figures.faults["memory"] ?? 0) > 0 }
            for _ in 0..<50 { #expect(try await client.send(HTTP2World.request()).status == 200) }
            #expect(!modest.hasEnded)
            let closed = world.figures.faults["memory"] ?? 0
            #expect(closed < 8)
            try await eventually("they end") { greedy.count(where: \.hasEnded) >= closed }
            for client in greedy + [modest] { await client.close() }
        }
    }

    @Test("Only beyond the limit, and only those with more than their share, have to go")
    func shares() {
        let begun = BegunRequests(limit: 100)
        #expect(!begun.change(from: 0, to: 90))
        #expect(!begun.change(from: 0, to: 10))
        #expect(!begun.change(from: 10, to: 20))
        #expect(begun.change(from: 90, to: 91))
        #expect(!begun.change(from: 91, to: 0))
        #expect(!begun.change(from: 20, to: 100))
        begun.change(limit: 50)
        #expect(begun.change(from: 100, to: 99))
        #expect(!begun.change(from: 99, to: 50))
    }

    @Test("A client that does not read its answers is read from no more, and then closed")
    func slowReader() async throws {
        try await withHTTP2World(Change { $0.limits.write = .milliseconds(300) }) { world in
            let slow = try await RawClient(port: world.port, reads: false)
            // Windows as wide as can be, so that nothing but the socket holds answers back.
            try await slow.send(
                RawHTTP2.preface
                    + RawHTTP2.frame(type: 4, flags: 0, streamID: 0, [0, 4, 0x7F, 0xFF, 0xFF, 0xFF])
                    + RawHTTP2.frame(type: 8, flags: 0, streamID: 0, [0x7F, 0, 0, 0]))
            // Each of these is refused at once. Together the answers are more than the kernel's buffers hold.
            var next: UInt32 = 1
            try await eventually("it is closed") {
                if world.figures.faults["write"] == 1 { return true }
                var requests: [UInt8] = []
                for number in 0..<2000 {
                    requests += RawHTTP2.headers(streamID: next + 2 * UInt32(number), endStream: true)
                }
                next += 4000
                slow.offer(requests)
                return false
            }
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
        }
    }

    @Test("One connection more than allowed is closed, and the others go on")
    func connectionLimit() async throws {
        try await withHTTP2World(Change { $0.limits.connections = 2 }) { world in
            let first = try await world.client()
            let second = try await world.client()
            #expect(try await first.send(HTTP2World.request()).status == 200)
            #expect(try await second.send(HTTP2World.request()).status == 200)
            let third = try await world.client()
            try await third.untilClosed()
            #expect(try await first.send(HTTP2World.request()).status == 200)
        }
    }

    @Test("Streams beyond the limit are refused as never processed")
    func streamLimit() async throws {
        try await withHTTP2World(journal: InMemoryJournal(mode: .manual), Change { $0.streams = 3 }) { world in
            let client = try await RawClient(port: world.port)
            let asked = [1, 3, 5, 7, 9].flatMap(RawHTTP2.request)
            try await client.send(RawHTTP2.preface + asked + RawHTTP2.ping)
            try await eventually("all were read") { client.pongs == 1 }
            world.journal.commit()
            try await eventually("three are answered") { client.heard.count { $0.type == 1 } == 3 }
            let answers = client.heard.filter { $0.type == 1 }
            #expect(answers.map(\.streamID) == [1, 3, 5] && answers.allSatisfy { $0.payload[0] == 0x88 })
            let refused = client.heard.filter { $0.type == 3 }
            #expect(refused.map(\.streamID) == [7, 9] && refused.allSatisfy { $0.payload == [0, 0, 0, 7] })
            #expect(world.journal.entries.count == 3)
            await client.close()
        }
    }

    @Test("A client that goes away while its requests are on their way to the disk is nobody's trouble")
    func clientGone() async throws {
        let journal = InMemoryJournal(mode: .manual)
        try await withHTTP2World(journal: journal) { world in
            let client = try await RawClient(port: world.port)
            let asked = (0..<10).flatMap { RawHTTP2.request(2 * $0 + 1) }
            try await client.send(RawHTTP2.preface + asked + RawHTTP2.ping)
            try await eventually("all were read") { client.pongs == 1 }
            await client.close()
            try await eventually("the gateway knows") { world.figures.unanswered == 10 }
            journal.commit()
            let other = try await world.client()
            async let answer = other.send(HTTP2World.request())
            try await eventually("it waits for the disk") { journal.waitingCount == 1 }
            journal.commit()
            #expect(try await answer.status == 200)
            #expect(journal.entries.count == 11)
        }
    }
}

/// Bytes of HTTP/2 for a client that writes them itself.
enum RawHTTP2 {
    /// Writes, waits until the other side closes, and returns what it said.
    static func exchange(port: Int, _ bytes: [UInt8]) async throws -> [UInt8]? {
        let client = try await RawClient(port: port)
        try await client.send(bytes)
        return await client.untilEnd(limit: .seconds(30))
    }

    /// The preface and empty SETTINGS.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(type: 4, flags: 0, streamID: 0, [])

    static func frame(type: UInt8, flags: UInt8, streamID: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let count = UInt32(payload.count)
        return [
            UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8),
            UInt8(truncatingIfNeeded: count),
        ]
            + [type, flags] + (0..<4).map { UInt8(truncatingIfNeeded: streamID >> (24 - 8 * $0)) } + payload
    }

    /// A request's HEADERS, all of them. One that ends with them is refused at once, for its token.
    static func headers(streamID: UInt32, endStream: Bool) -> [UInt8] {
        var block: [UInt8] = [0x83, 0x87]
        let path = "/3/device/\(endStream ? "5" : "5a")"
        for (name, value) in [(":path", path), (":authority", "a"), ("apns-topic", HTTP2World.topic)] {
            block += [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        return frame(type: 1, flags: endStream ? 5 : 4, streamID: streamID, block)
    }
}
