import HoldfastHTTP2
import Testing

/// A violation, named, and the code that the peer must be told.
struct Violation: Sendable, CustomTestStringConvertible {
    var name: String
    var frames: [RawFrame]
    var code: HTTP2ErrorCode

    init(_ name: String, _ code: HTTP2ErrorCode, _ frames: RawFrame...) {
        self.name = name
        self.frames = frames
        self.code = code
    }

    var testDescription: String { name }

    /// Those that both roles must answer alike, given that stream 1 is open.
    static let common: [Violation] = [
        Violation("DATA on stream 0", .protocolError, .data(0, [1], end: false)),
        Violation("HEADERS on stream 0", .protocolError, .headers(0, [0x88], end: true)),
        Violation("PRIORITY on stream 0", .protocolError, RawFrame(type: 2, payload: [0, 0, 0, 0, 1])),
        Violation("RST_STREAM on stream 0", .protocolError, .reset(0, 1)),
        Violation("RST_STREAM on an idle stream", .protocolError, .reset(99, 1)),
        Violation("RST_STREAM of 3 bytes", .frameSizeError, RawFrame(type: 3, stream: 1, payload: [0, 0, 0])),
        Violation("SETTINGS on a stream", .protocolError, RawFrame(type: 4, stream: 1)),
        Violation("SETTINGS of 5 bytes", .frameSizeError, RawFrame(type: 4, payload: [0, 0, 0, 0, 0])),
        Violation(
            "SETTINGS ack with a payload", .frameSizeError, RawFrame(type: 4, flags: 1, payload: [0, 1, 0, 0, 0, 0])),
        Violation("SETTINGS_ENABLE_PUSH of 2", .protocolError, .settings((2, 2))),
        Violation("SETTINGS_INITIAL_WINDOW_SIZE of 2^31", .flowControlError, .settings((4, 0x8000_0000))),
        Violation("SETTINGS_MAX_FRAME_SIZE of 16383", .protocolError, .settings((5, 16383))),
        Violation("SETTINGS_MAX_FRAME_SIZE of 2^24", .protocolError, .settings((5, 1 << 24))),
        Violation(
            "PING on a stream", .protocolError, RawFrame(type: 6, stream: 1, payload: [UInt8](repeating: 0, count: 8))),
        Violation("PING of 7 bytes", .frameSizeError, .ping([UInt8](repeating: 0, count: 7))),
        Violation(
            "GOAWAY on a stream", .protocolError, RawFrame(type: 7, stream: 1, payload: [UInt8](repeating: 0, count: 8))
        ),
        Violation("GOAWAY of 7 bytes", .frameSizeError, RawFrame(type: 7, payload: [UInt8](repeating: 0, count: 7))),
        Violation("WINDOW_UPDATE of 0 on the connection", .protocolError, .windowUpdate(0, 0)),
        Violation("WINDOW_UPDATE of 3 bytes", .frameSizeError, RawFrame(type: 8, payload: [0, 0, 1])),
        Violation("WINDOW_UPDATE on an idle stream", .protocolError, .windowUpdate(99, 1)),
        Violation("The connection's window past 2^31-1", .flowControlError, .windowUpdate(0, 0x7fff_ffff)),
        Violation(
            "A stream's window past 2^31-1 by SETTINGS", .flowControlError, .windowUpdate(1, 0x7fff_0000),
            .settings((4, 0x7fff_ffff))),
        Violation("CONTINUATION without HEADERS", .protocolError, .continuation(1, [], endHeaders: true)),
        Violation(
            "A PING inside a header block", .protocolError, .headers(1, [], end: true, endHeaders: false),
            .ping([UInt8](repeating: 0, count: 8))),
        Violation(
            "CONTINUATION of another stream", .protocolError, .headers(1, [], end: true, endHeaders: false),
            .continuation(3, [], endHeaders: true)),
        Violation(
            "An unknown frame inside a header block", .protocolError, .headers(1, [], end: true, endHeaders: false),
            RawFrame(type: 0x77, stream: 1)),
        Violation(
            "DATA with more padding than payload", .protocolError,
            RawFrame(type: 0, flags: 8, stream: 1, payload: [3, 0, 0])),
        Violation("DATA padded without a pad length", .frameSizeError, RawFrame(type: 0, flags: 8, stream: 1)),
        Violation(
            "HEADERS too short for its priority", .frameSizeError,
            RawFrame(type: 1, flags: 0x24, stream: 1, payload: [0, 0])),
        Violation(
            "HEADERS with more padding than payload", .protocolError,
            RawFrame(type: 1, flags: 0x0c, stream: 1, payload: [2, 0x88])),
        Violation("A frame of 16385 bytes", .frameSizeError, .data(1, [UInt8](repeating: 0, count: 16385), end: false)),
        Violation("DATA on an idle stream", .protocolError, .data(99, [1], end: false)),
        Violation("PUSH_PROMISE", .protocolError, RawFrame(type: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2, 0x82])),
        Violation("A header block that breaks off", .compressionError, .headers(1, [0x00, 0x05, 0x61], end: true)),
        Violation("An index that no table has", .compressionError, .headers(1, [0xff, 0x80, 0x01], end: true)),
        Violation(
            "An integer without end", .compressionError,
            .headers(1, [0xff] + [UInt8](repeating: 0xff, count: 12), end: true)),
        Violation(
            "A table larger than announced", .compressionError, .headers(1, [0x3f, 0xff, 0xff, 0x03], end: true)),
        Violation(
            "A broken Huffman string", .compressionError, .headers(1, [0x00, 0x82, 0xff, 0xff, 0x01, 0x61], end: true)),
    ]
}

@Suite("A server that breaks the protocol")
struct ClientErrorTests {
    static let violations =
        Violation.common + [
            Violation("SETTINGS_ENABLE_PUSH of 1 by a server", .protocolError, .settings((2, 1))),
            Violation("HEADERS on a stream never opened", .protocolError, .headers(3, [0x88], end: true)),
            Violation("HEADERS on an even stream", .protocolError, .headers(2, [0x88], end: true)),
            Violation(
                "HEADERS behind the end of a stream", .streamClosed, .headers(1, [0x88], end: true),
                .headers(1, [0x88], end: true)),
            Violation(
                "DATA behind the end of a stream", .streamClosed, .headers(1, [0x88], end: true),
                .data(1, [], end: true)),
            Violation("DATA behind RST_STREAM", .streamClosed, .reset(1, 8), .data(1, [1], end: true)),
        ]

    @Test("ends the connection with the code that RFC 9113 names", arguments: violations)
    func violation(_ violation: Violation) throws {
        var client = ClientUnderTest()
        try client.start(tag: 11)
        _ = client.session.takeOutput()
        for frame in violation.frames { client.receive(frame) }
        #expect(client.connectionError == violation.code, "\(client.events.others)")
        let last = try #require(try client.written().last)
        #expect(last.type == 7)
        #expect(Array(last.payload.prefix(8)) == big32(0) + big32(violation.code.rawValue))
        #expect(client.session.failure?.code == violation.code)
        #expect(client.session.openTags == (client.events.succeeded.isEmpty && client.resets.isEmpty ? [11] : []))

        let events = client.events.others.count
        client.receive(.ping([1, 2, 3, 4, 5, 6, 7, 8]), .headers(1, [0x88], end: true))
        #expect(client.events.others.count == events, "nothing is received after a connection error")
        #expect(!client.session.hasOutput)
        #expect(client.session.startRequest(tag: 1, headerBlock: [0x83], body: [], bodyRange: 0..<0) == .noStream)
        #expect(client.session.cancel(streamID: 1) == nil)
    }

    @Test(
        "is found out when its first frame is not SETTINGS",
        arguments: [
            RawFrame.ping([0, 0, 0, 0, 0, 0, 0, 0]), .settingsAck, .goAway(0, 0), .headers(1, [0x88], end: true),
            RawFrame(type: 0x50),
        ])
    func firstFrame(frame: RawFrame) {
        var client = ClientUnderTest(settings: nil)
        client.receive(frame)
        #expect(client.connectionError == .protocolError)
    }

    @Test("is found out when it speaks HTTP/1.1")
    func http1() {
        var client = ClientUnderTest(settings: nil)
        client.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(client.connectionError == .frameSizeError)
    }

    @Test(
        "does not get away with frames that move nothing, without end",
        arguments: [
            RawFrame.settings, .ping([0, 0, 0, 0, 0, 0, 0, 0]), .ping([0, 0, 0, 0, 0, 0, 0, 0], ack: true),
            .settingsAck,
            .headers(1, block((":status", "103")), end: false), RawFrame(type: 0x42, payload: [1]),
            RawFrame(type: 2, stream: 1, payload: [0, 0, 0, 0, 9]), .reset(3, 8), .goAway(1, 0),
        ])
    func flood(frame: RawFrame) throws {
        var limits = HTTP2Limits.client
        limits.maxIdleFrames = 100
        var client = ClientUnderTest(limits: limits)
        try client.start(tag: 1)
        client.session.cancel(streamID: try client.start(tag: 2))
        client.session.renewFrameBudget()
        for _ in 0..<100 { client.receive(frame) }
        #expect(client.session.failure == nil)
        client.session.renewFrameBudget()
        for _ in 0..<100 { client.receive(frame) }
        #expect(client.session.failure == nil, "a new budget was granted")
        client.receive(frame)
        #expect(client.connectionError == .enhanceYourCalm)
    }

    @Test("does not get away with empty DATA, without end")
    func emptyData() throws {
        var limits = HTTP2Limits.client
        limits.maxIdleFrames = 100
        var client = ClientUnderTest(limits: limits)
        try client.start(tag: 1)
        client.receive(.headers(1, block((":status", "400")), end: false))
        for _ in 0..<98 { client.receive(.data(1, [], end: false)) }
        #expect(client.session.failure == nil)
        for _ in 0..<3 { client.receive(.data(1, [], end: false)) }
        #expect(client.connectionError == .enhanceYourCalm)
    }

    @Test("earns a new budget with every answer")
    func earned() throws {
        var limits = HTTP2Limits.client
        limits.maxIdleFrames = 10
        var client = ClientUnderTest(limits: limits)
        for tag in UInt64(0)..<50 {
            client.receive(.settings, .ping([0, 0, 0, 0, 0, 0, 0, 0]), .windowUpdate(0, 1))
            client.receive(.headers(try client.start(tag: tag), [0x88], end: true))
        }
        #expect(client.session.failure == nil)
        #expect(client.events.succeeded.count == 50)
    }

    @Test("cannot send a header block without end", arguments: [0, 1, 4000])
    func continuationFlood(size: Int) throws {
        var client = ClientUnderTest()
        try client.start(tag: 1)
        client.receive(.headers(1, [], end: true, endHeaders: false))
        var sent = 0
        while client.session.failure == nil, sent < 1000 {
            client.receive(.continuation(1, [UInt8](repeating: 0, count: size), endHeaders: false))
            sent += 1
        }
        #expect(client.connectionError == .enhanceYourCalm)
        #expect(sent <= 17)
    }

    @Test("cannot make us hold answers that nobody reads")
    func unreadAnswers() {
        var limits = HTTP2Limits.client
        limits.maxQueuedOutput = 200
        var client = ClientUnderTest(limits: limits)
        for _ in 0..<20 { client.receive(.ping([0, 0, 0, 0, 0, 0, 0, 0])) }
        #expect(client.connectionError == .enhanceYourCalm)
        #expect(client.session.output.count < 400)
    }

    @Test("may send a header list only up to the bound, however small it is on the wire")
    func headerBomb() throws {
        var client = ClientUnderTest(settings: nil)
        client.receive(.settings((3, 10)))
        try client.start(tag: 1)
        var block: [UInt8] = [0x88]
        HPACKWriter.appendLiteral(
            name: "x".utf8, value: [UInt8](repeating: 0x61, count: 3900), indexing: .incremental, to: &block)
        block += [UInt8](repeating: 0xbe, count: 1000)
        client.receive(.headers(1, block, end: true))
        #expect(client.connectionError == .enhanceYourCalm)
    }
}
