import HoldfastTesting
import RawClients
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// What clients of the HTTP/2 listener are told when the gateway ends.
@Suite("HTTP/2: the end", .timeLimit(.minutes(1)))
struct HTTP2EndTests {
    private static let goAway: UInt8 = 7

    @Test("What was taken is answered first; then one GOAWAY names the last of it, and what came behind was not taken")
    func order() async throws {
        let journal = InMemoryJournal(mode: .manual)
        let world = try await HTTP2World.start(journal: journal)
        let client = try await RawClient(port: world.port)
        let begun = RawHTTP2.headers(streamID: 7, endStream: false)
        try await client.send(RawHTTP2.preface + [1, 3, 5].flatMap(RawHTTP2.request) + begun + RawHTTP2.ping)
        try await eventually("they were read, and wait for the disk") { client.pongs == 1 }
        world.task.cancel()
        // REFUSED_STREAM, for the one that has not ended.
        let refused = RawHTTP2.frame(type: 3, flags: 0, streamID: 7, [0, 0, 0, 7])
        try await eventually("it hears that this was not taken") { client.heard.map(\.bytes).contains(refused) }
        try await client.send(RawHTTP2.request(9) + RawHTTP2.ping)
        try await eventually("what came behind was read") { client.pongs == 2 }
        #expect(!client.heard.contains { $0.type == Self.goAway })
        journal.commit()
        let heard = RawHTTP2.frames(try #require(await client.untilEnd()))
        let words = heard.filter { $0.type == 1 || $0.type == Self.goAway }
        #expect(words.map(\.type) == [1, 1, 1, Self.goAway])
        #expect(words.prefix(3).map(\.streamID) == [1, 3, 5] && words.prefix(3).allSatisfy { $0.payload[0] == 0x88 })
        #expect(words.last?.payload.prefix(8) == [0, 0, 0, 5, 0, 0, 0, 0])
        try await world.task.value
        #expect(journal.entries.count == 3)
    }

    @Test("A client that closes as soon as it hears of the end has the answer to each request that was taken")
    func closesAtOnce() async throws {
        for _ in 0..<10 {
            let world = try await HTTP2World.start()
            let client = try await RawClient(port: world.port)
            try await client.send(RawHTTP2.preface)
            for part in 0..<10 {
                let streams = (0..<50).map { UInt32(2 * (50 * part + $0) + 1) }
                client.offer(streams.flatMap(RawHTTP2.request))
            }
            try await eventually("some are taken") { !world.journal.entries.isEmpty }
            world.task.cancel()
            try await eventually("it hears of the end") { client.heard.contains { $0.type == Self.goAway } }
            let answered = client.heard.prefix { $0.type != Self.goAway }.count { $0.type == 1 }
            await client.close()
            try await world.task.value
            #expect(answered == world.journal.entries.count)
        }
    }

    @Test("A thousand requests that come behind the end cost none of the answers that are due")
    func manyBehind() async throws {
        let journal = InMemoryJournal(mode: .manual)
        let world = try await HTTP2World.start(journal: journal)
        let client = try await RawClient(port: world.port)
        try await client.send(
            RawHTTP2.preface + RawHTTP2.request(1) + RawHTTP2.headers(streamID: 3, endStream: false))
        try await eventually("it waits for the disk") { journal.waitingCount == 1 }
        world.task.cancel()
        try await eventually("the gateway ends") { client.heard.contains { $0.type == 3 } }
        try await client.send((2..<1002).flatMap { RawHTTP2.request(UInt32(2 * $0 + 1)) } + RawHTTP2.ping)
        try await eventually("they were read") { client.pongs == 1 }
        journal.commit()
        let words = RawHTTP2.frames(try #require(await client.untilEnd())).filter { $0.type == 1 || $0.type == 7 }
        #expect(words.map(\.streamID) == [1, 0])
        #expect(words.last?.payload.prefix(8) == [0, 0, 0, 1, 0, 0, 0, 0])
        try await world.task.value
    }

    @Test("When its time is over, a client whose answer is not there yet is told what was not taken, and cut off")
    func limit() async throws {
        let journal = InMemoryJournal(mode: .manual)
        let world = try await HTTP2World.start(journal: journal, gateway: { $0.drainLimit = .milliseconds(300) })
        let client = try await RawClient(port: world.port)
        try await client.send(RawHTTP2.preface + RawHTTP2.request(1))
        try await eventually("it waits for the disk") { journal.waitingCount == 1 }
        world.task.cancel()
        let words = RawHTTP2.frames(try #require(await client.untilEnd())).filter { $0.type == 1 || $0.type == 7 }
        #expect(words.map(\.type) == [Self.goAway])
        #expect(words.last?.payload.prefix(8) == [0, 0, 0, 1, 0, 0, 0, 0])
        try await world.task.value
        journal.commit()
    }
}

extension RawHTTP2 {
    struct Frame {
        var type: UInt8
        var flags: UInt8
        var streamID: UInt32
        var payload: [UInt8]

        var bytes: [UInt8] { RawHTTP2.frame(type: type, flags: flags, streamID: streamID, payload) }
    }

    /// A whole request that is in order.
    static func request(_ streamID: UInt32) -> [UInt8] {
        headers(streamID: streamID, endStream: false)
            + frame(type: 0, flags: 1, streamID: streamID, Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
    }

    static let ping = frame(type: 6, flags: 0, streamID: 0, [1, 2, 3, 4, 5, 6, 7, 8])

    /// The whole frames at the beginning of `bytes`.
    static func frames(_ bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = head.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 9 + length else { break }
            frames.append(
                Frame(
                    type: head[3], flags: head[4], streamID: head[5...8].reduce(0) { $0 << 8 | UInt32($1) },
                    payload: Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }
}

extension RawClient {
    /// The frames that have come.
    var heard: [RawHTTP2.Frame] { RawHTTP2.frames(received) }

    /// How many PINGs were answered: what was sent in front of one was read by then, in however many parts it came.
    var pongs: Int { heard.count { $0.type == 6 && $0.flags == 1 } }
}
