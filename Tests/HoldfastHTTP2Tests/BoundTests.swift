import HoldfastHTTP2
import Testing

/// What a peer can make a session hold, and do, at most.
@Suite("Bounds of a session")
struct BoundTests {
    @Test(
        "Responses that begin and do not end are held up to a bound, whether 200 or not",
        arguments: [block((":status", "200"), ("a", String(repeating: "x", count: 4000))), [0x8c]])
    func unfinishedResponses(header: [UInt8]) throws {
        var limits = HTTP2Limits.client
        limits.maxIncoming = 100_000
        var client = ClientUnderTest(limits: limits)
        var streams: [UInt32] = []
        for tag in UInt64(0)..<100 { streams.append(try client.start(tag: tag)) }
        for id in streams {
            client.receive(.headers(id, header, end: false), .data(id, [UInt8](repeating: 7, count: 4000), end: false))
            #expect(client.session.heldBytes < 110_000)
        }
        #expect(client.connectionError == .enhanceYourCalm)
        #expect(client.session.openStreams == 100)
    }

    @Test("A response that ends, is reset or is cancelled gives back what it held")
    func givenBack() throws {
        var limits = HTTP2Limits.client
        limits.maxIncoming = 5000
        var client = ClientUnderTest(limits: limits)
        for tag in UInt64(0)..<300 {
            let id = try client.start(tag: tag)
            client.receive(.headers(id, [0x8c], end: false), .data(id, [UInt8](repeating: 7, count: 3000), end: false))
            switch tag % 3 {
            case 0: client.receive(.data(id, [1], end: true))
            case 1: client.receive(.reset(id, 2))
            default: client.session.cancel(streamID: id)
            }
            _ = client.session.takeOutput()
            #expect(client.session.heldBytes == 0)
        }
        #expect(client.connectionError == nil)
    }

    @Test("Requests that begin and do not end are held up to a bound")
    func unfinishedRequests() throws {
        var limits = HTTP2Limits.server
        limits.maxIncoming = 100_000
        var server = ServerUnderTest(limits: limits)
        for id in stride(from: UInt32(1), to: 200, by: 2) {
            server.receive(
                .headers(id, requestBlock, end: false), .data(id, [UInt8](repeating: 7, count: 4000), end: false))
            _ = server.session.takeOutput()
            #expect(server.session.heldBytes < 110_000)
        }
        #expect(server.connectionError == .enhanceYourCalm)
    }

    @Test("A body that trickles out through a small window is not kept whole to its end")
    func trickle() throws {
        var server = ServerUnderTest()
        server.receive(.settings((4, 0)), .headers(1, requestBlock, end: true))
        server.session.sendHeaders(streamID: 1, headerBlock: [0x88], endStream: false)
        for _ in 0..<1000 {
            server.session.sendData(streamID: 1, [UInt8](repeating: 7, count: 1000), endStream: false)
            server.receive(.windowUpdate(1, 1000), .windowUpdate(0, 1000))
            _ = server.session.takeOutput()
            #expect(server.session.heldBytes <= 3000)
        }
    }

    @Test("SETTINGS that change every stream's window are not taken thousands of times")
    func windowGames() throws {
        var client = ClientUnderTest(settings: .settings((3, 4096)))
        for tag in UInt64(0)..<4000 { try client.start(tag: tag) }
        var frames = 0
        while client.connectionError == nil, frames < 10_000 {
            client.receive(.settings((4, UInt32(frames % 2 * 1000))))
            frames += 1
        }
        #expect(client.connectionError == .enhanceYourCalm && frames < 200)
    }

    @Test("GOAWAYs that take back one stream after the other are not taken thousands of times")
    func manyGoAways() throws {
        var client = ClientUnderTest(settings: .settings((3, 4096)))
        for tag in UInt64(0)..<4000 { try client.start(tag: tag) }
        var frames: UInt32 = 0
        while client.connectionError == nil, frames < 10_000 {
            client.receive(.goAway(8000 - 2 * frames, 0))
            frames += 1
        }
        #expect(client.connectionError == .enhanceYourCalm && frames < 200)
        // What was taken back was told, the rest is still open: nothing is lost to the flood.
        #expect(client.goAways.flatMap(\.neverProcessed).count + client.session.openStreams == 4000)
    }

    @Test("A connection's window that opens again lets out what waited for it, and only for it")
    func connectionWindow() throws {
        var client = ClientUnderTest(settings: .settings((3, 100), (4, 100_000)))
        for tag in UInt64(0)..<3 { try client.start(tag: tag, body: [UInt8](repeating: 1, count: 40_000)) }
        _ = client.session.takeOutput()
        #expect(client.session.heldBack == 120_000 - 65_535)
        client.receive(.windowUpdate(0, 10_000))
        #expect(client.session.heldBack == 120_000 - 75_535)
        client.receive(.windowUpdate(0, 100_000))
        #expect(client.session.heldBack == 0)
    }
}
