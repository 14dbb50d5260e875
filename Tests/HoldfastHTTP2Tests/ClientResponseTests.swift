import HoldfastHTTP2
import Testing

@Suite("What the client makes of responses")
struct ClientResponseTests {
    @Test(
        "Status 200 without a body is a success, in every form a server may write it",
        arguments: [
            [RawFrame.headers(1, [0x88], end: true)],
            [.headers(1, [0x20, 0x88], end: true)],
            [.headers(1, [0x20, 0x20, 0x88], end: true)],
            [.headers(1, [0x88, 0x00, 0x07] + Array("apns-id".utf8) + [0x01, 0x61], end: true)],
            [.headers(1, [0x88], end: false), .data(1, [], end: true)],
            [.headers(1, [0x88], end: false), .data(1, [], end: false), .data(1, [], end: true)],
            [.headers(1, [0x88], end: false), .headers(1, block(("grpc-status", "0")), end: true)],
            [.headers(1, [0x08, 0x03, 0x32, 0x30, 0x30], end: true)],
            [.headers(1, [0x08, 0x03, 0x32, 0x30, 0x30], end: false), .data(1, [], end: true)],
            [.headers(1, [], end: true, endHeaders: false), .continuation(1, [0x88], endHeaders: true)],
            [RawFrame(type: 1, flags: 0x2d, stream: 1, payload: [2, 0, 0, 0, 0, 9, 0x88, 0, 0])],
            [.headers(1, block((":status", "100")), end: false), .headers(1, [0x88], end: true)],
        ])
    func success(frames: [RawFrame]) throws {
        var client = ClientUnderTest()
        try client.start(tag: 42)
        for frame in frames { client.receive(frame) }
        #expect(client.events.succeeded == [42], "\(client.events.others)")
        #expect(client.events.others.isEmpty)
        #expect(client.session.openStreams == 0)
    }

    @Test("An error body in several DATA frames, padded and empty ones among them, comes out whole")
    func errorBody() throws {
        var client = ClientUnderTest()
        try client.start(tag: 1)
        client.receive(.headers(1, block((":status", "410"), ("apns-id", "abc"), ("content-length", "25")), end: false))
        client.receive(.data(1, Array(#"{"reason":"#.utf8), end: false), .data(1, [], end: false))
        client.receive(
            RawFrame(type: 0, flags: 8, stream: 1, payload: [3] + Array(#""Unregistered""#.utf8) + [0, 0, 0]))
        client.receive(.data(1, Array("}".utf8), end: true))
        let response = try #require(client.responses.first).response
        #expect(response.status == 410)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"reason":"Unregistered"}"#)
        #expect(response.headers.first(name: "apns-id") == "abc")
        #expect(!response.isTruncated)
        #expect(client.session.openStreams == 0)
    }

    @Test("An error without a body is a response")
    func bareError() throws {
        var client = ClientUnderTest()
        try client.start(tag: 3)
        client.receive(.headers(1, block((":status", "503")), end: true))
        let (tag, response) = try #require(client.responses.first)
        #expect(tag == 3 && response.status == 503 && response.body.isEmpty)
    }

    @Test("A 200 with a body is a response with its header fields")
    func successWithBody() throws {
        var client = ClientUnderTest()
        try client.start(tag: 3)
        client.receive(.headers(1, [0x20, 0x88] + block(("x", "y")), end: false), .data(1, [1], end: false))
        client.receive(.data(1, [2], end: true))
        let response = try #require(client.responses.first).response
        #expect(response.status == 200 && response.body == [1, 2])
        #expect(response.headers.first(name: "x") == "y")
        #expect(client.events.succeeded.isEmpty)
    }

    @Test("Successes are decoded where they are wanted decoded")
    func decodedSuccess() throws {
        var client = ClientUnderTest(decodesSuccesses: true)
        try client.start(tag: 3)
        client.receive(.headers(1, [0x88] + block(("apns-unique-id", "u")), end: true))
        let response = try #require(client.responses.first).response
        #expect(response.status == 200)
        #expect(response.headers.first(name: "apns-unique-id") == "u")
        #expect(client.events.succeeded.isEmpty)
    }

    @Test("Before our SETTINGS are acknowledged the peer may use a dynamic table")
    func dynamicTableBeforeAck() throws {
        var client = ClientUnderTest(settings: nil)
        client.receive(.settings((3, 10)))
        try client.start(tag: 1)
        try client.start(tag: 2)
        var block: [UInt8] = []
        HPACKWriter.appendLiteral(nameIndex: 8, value: "418".utf8, indexing: .incremental, to: &block)
        client.receive(.headers(1, block, end: true), .headers(3, [0xbe], end: true))
        #expect(client.responses.map(\.response.status) == [418, 418])
        client.receive(.settingsAck)
        try client.start(tag: 3)
        client.receive(.headers(5, [0xbe], end: true))
        #expect(client.connectionError == .compressionError)
    }

    @Test("A body longer than the bound is cut and its stream reset, but its status counts")
    func truncation() throws {
        var limits = HTTP2Limits.client
        limits.maxBodySize = 5
        var client = ClientUnderTest(limits: limits)
        try client.start(tag: 1)
        _ = client.session.takeOutput()
        client.receive(.headers(1, block((":status", "400")), end: false), .data(1, [1, 2, 3], end: false))
        client.receive(.data(1, [4, 5, 6], end: false))
        let response = try #require(client.responses.first).response
        #expect(response.body == [1, 2, 3, 4, 5] && response.isTruncated)
        #expect(try client.written() == [.reset(1, 8)])
        client.receive(.data(1, [7], end: true))
        #expect(client.session.failure == nil)
        #expect(client.responses.count == 1 && client.session.openStreams == 0)
    }

    @Test(
        "A malformed response ends its stream with PROTOCOL_ERROR, and no other",
        arguments: [
            block(("x", "y")),
            block((":status", "20")),
            block((":status", "abc")),
            block((":status", "200"), (":status", "200")),
            block((":status", "400"), (":path", "/")),
            block(("x", "y"), (":status", "400")),
            block((":status", "400"), ("connection", "close")),
            block((":status", "400"), ("transfer-encoding", "chunked")),
            block((":status", "400"), ("Upper", "case")),
            block((":status", "400"), ("x", "a\nb")),
            block((":status", "400"), ("content-length", "x")),
            block((":status", "101")),
            block((":status", "099")),
        ])
    func malformed(block: [UInt8]) throws {
        var client = ClientUnderTest()
        try client.start(tag: 1)
        try client.start(tag: 2)
        _ = client.session.takeOutput()
        client.receive(.headers(1, block, end: false), .headers(3, [0x88], end: true))
        #expect(client.resets == ["1 PROTOCOL_ERROR us"])
        #expect(try client.written() == [.reset(1, 1)])
        #expect(client.events.succeeded == [2])
    }

    @Test(
        "A response in a wrong order of frames ends its stream",
        arguments: [
            [RawFrame.data(1, [1], end: false)],
            [.headers(1, block((":status", "100")), end: true)],
            [.headers(1, block((":status", "400")), end: false), .headers(1, block(("x", "y")), end: false)],
            [.headers(1, block((":status", "400")), end: false), .headers(1, block((":status", "200")), end: true)],
            [.headers(1, block((":status", "400"), ("content-length", "3")), end: false), .data(1, [1], end: true)],
            [RawFrame.windowUpdate(1, 0)],
        ])
    func wrongOrder(frames: [RawFrame]) throws {
        var client = ClientUnderTest()
        try client.start(tag: 1)
        for frame in frames { client.receive(frame) }
        #expect(client.resets == ["1 PROTOCOL_ERROR us"])
        #expect(client.session.failure == nil)
        #expect(client.session.openStreams == 0)
    }

    @Test(
        "RST_STREAM is reported with its code, REFUSED_STREAM and unknown ones too",
        arguments: [UInt32](
            [0, 2, 7, 8, 11, 0xdead_beef]))
    func reset(code: UInt32) throws {
        var client = ClientUnderTest()
        try client.start(tag: 6)
        client.receive(.reset(1, code))
        guard case .reset(6, let received, byPeer: true, hasAnswered: false)? = client.events.others.first else {
            Issue.record("no reset: \(client.events.others)")
            return
        }
        #expect(received.rawValue == code)
        #expect((received == .refusedStream) == (code == 7))
        client.receive(.reset(1, code), .windowUpdate(1, 5))
        #expect(client.session.failure == nil && client.session.openStreams == 0)
    }

    @Test("After a cancel, what the peer still sends is ignored, even a thousand streams later")
    func cancel() throws {
        var client = ClientUnderTest()
        let stream = try client.start(tag: 6)
        _ = client.session.takeOutput()
        #expect(client.session.cancel(streamID: stream) == 6)
        #expect(client.session.cancel(streamID: stream) == nil)
        #expect(try client.written() == [.reset(1, 8)])
        client.receive(.headers(1, block((":status", "400")), end: false), .data(1, [1], end: false))
        for tag in UInt64(0)..<1000 { client.receive(.headers(try client.start(tag: tag), [0x88], end: true)) }
        client.receive(.data(1, [1], end: true), .reset(1, 0))
        #expect(client.session.failure == nil)
        #expect(client.events.succeeded.count == 1000 && client.events.others.isEmpty)
        try client.start(tag: 77)
        #expect(client.session.cancel(tag: 77) == true)
        #expect(client.session.cancel(tag: 77) == false)
    }

    @Test("An answer that comes before the request is fully written ends the writing")
    func earlyAnswer() throws {
        var client = ClientUnderTest(settings: .settings((4, 10)))
        try client.start(tag: 1, body: [UInt8](repeating: 7, count: 25))
        #expect(client.session.heldBack == 15)
        _ = client.session.takeOutput()
        client.receive(.headers(1, block((":status", "413")), end: true))
        #expect(client.responses.map(\.response.status) == [413])
        #expect(try client.written() == [.reset(1, 8)])
        #expect(client.session.heldBack == 0)
        client.receive(.windowUpdate(1, 100), .reset(1, 0))
        #expect(try client.written().isEmpty)
        #expect(client.session.failure == nil)
    }

    @Test("GOAWAY names what was never processed; the rest is still answered; the smallest number counts")
    func goAway() throws {
        var client = ClientUnderTest()
        for tag in UInt64(1)...5 { try client.start(tag: tag) }
        client.receive(.goAway(0x7fff_ffff, 0))
        #expect(client.session.availableStreams == 0)
        client.receive(.goAway(5, 0, Array("bye".utf8)), .headers(5, [0x88], end: true))
        client.receive(.goAway(9, 11))
        client.receive(.goAway(1, 11), .headers(9, [0x88], end: true), .headers(1, [0x88], end: true))
        #expect(client.goAways.map(\.neverProcessed) == [[], [4, 5], [], [2]])
        #expect(client.goAways.map(\.lastStreamID) == [0x7fff_ffff, 5, 5, 1])
        #expect(client.goAways[1].debugData == Array("bye".utf8))
        #expect(client.goAways[2].code == .enhanceYourCalm)
        #expect(client.events.succeeded == [3, 1])
        #expect(client.session.failure == nil && client.session.openStreams == 0)
    }

    @Test(
        "Once a response has begun, RST_STREAM and GOAWAY do not take it back",
        arguments: ["200", "400", "100"])
    func contradiction(_ status: String) throws {
        var client = ClientUnderTest()
        for tag in UInt64(1)...3 { try client.start(tag: tag) }
        let block = block((":status", status))
        client.receive(.headers(1, block, end: false), .headers(3, block, end: false), .goAway(0, 0))
        #expect(client.goAways.map(\.neverProcessed) == [[3]])
        #expect(client.session.openTags == [1, 2])
        client.receive(.reset(1, 7))
        guard case .reset(1, .refusedStream, byPeer: true, hasAnswered: true)? = client.events.others.last else {
            Issue.record("it passes for one that was never processed: \(client.events.others)")
            return
        }
        // The one that the peer took back with GOAWAY is answered to its end.
        client.receive(status == "100" ? .headers(3, [0x88], end: true) : .data(3, [], end: true))
        #expect(client.session.openStreams == 0 && client.session.failure == nil)
        #expect(client.events.succeeded + client.responses.map(\.tag) == [2])
    }

    @Test("GOAWAY drops the bodies that were waiting for a window")
    func goAwayDropsHeld() throws {
        var client = ClientUnderTest(settings: .settings((4, 10)))
        try client.start(tag: 1, body: [UInt8](repeating: 7, count: 25))
        client.receive(.goAway(0, 0))
        #expect(client.session.heldBack == 0)
        #expect(client.goAways.first?.neverProcessed == [1])
    }
}
