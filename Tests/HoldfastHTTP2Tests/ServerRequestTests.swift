import HoldfastHTTP2
import Testing

@Suite("What the server makes of requests")
struct ServerRequestTests {
    @Test("A connection begins with SETTINGS and a wide window, to the byte")
    func settings() {
        var session = HTTP2ServerSession()
        let expected: [UInt8] =
            [0, 0, 24, 4, 0, 0, 0, 0, 0] + [0, 1, 0, 0, 16, 0] + [0, 3, 0, 0, 3, 232] + [0, 4, 0, 0, 255, 255]
            + [0, 6, 0, 0, 64, 0] + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 255, 0, 1]
        #expect(session.takeOutput() == expected)
    }

    @Test("A request comes out with its header fields and its body, in whatever frames it came")
    func requests() throws {
        var server = ServerUnderTest()
        server.receive(.headers(1, requestBlock, end: false), .data(1, [1, 2], end: false))
        server.receive(.headers(3, requestBlock, end: true))
        server.receive(.headers(5, Array(requestBlock.prefix(4)), end: false, endHeaders: false))
        server.receive(.continuation(5, Array(requestBlock.dropFirst(4)), endHeaders: true), .data(5, [9], end: true))
        server.receive(.data(1, [3], end: false), .headers(1, block(("x-trailer", "1")), end: true))
        #expect(server.events.requests.map(\.streamID) == [3, 5, 1])
        #expect(server.events.requests.map { server.body(of: $0) } == [[], [9], [1, 2, 3]])
        #expect(
            server.events.requests.allSatisfy { request in
                server.events.headers(of: request).first(name: ":path") == "/3/device/00"
            })
        #expect(server.session.openStreams == 3)
    }

    @Test("Answers are written to the byte, and end their streams")
    func answers() throws {
        var server = ServerUnderTest()
        for stream: UInt32 in [1, 3, 5] { server.receive(.headers(stream, requestBlock, end: true)) }
        #expect(server.session.isOpen(3))
        #expect(server.session.respond(streamID: 3, headerBlock: [0x88]) == true)
        #expect(
            server.session.respond(streamID: 1, status: 410, headers: [("apns-id", "i")], body: Array("{}".utf8))
                == true)
        #expect(server.session.respond(streamID: 3, headerBlock: [0x88]) == false)
        #expect(!server.session.isOpen(3))
        #expect(server.session.sendHeaders(streamID: 5, headerBlock: [0x88], endStream: false) == true)
        #expect(server.session.sendData(streamID: 5, [1], endStream: false) == true)
        #expect(server.session.sendData(streamID: 5, [], endStream: true) == true)
        let frames = try server.written()
        #expect(frames.map(\.stream) == [3, 1, 1, 5, 5, 5])
        #expect(frames.map(\.type) == [1, 1, 0, 1, 0, 0])
        #expect(frames.map(\.flags) == [5, 4, 1, 4, 0, 1])
        #expect(try decoded(frames[1].payload) == [":status: 410", "apns-id: i"])
        #expect(server.session.openStreams == 0)
        #expect(server.session.respond(streamID: 99, headerBlock: [0x88]) == false)
    }

    @Test(
        "A malformed request ends its stream with PROTOCOL_ERROR, and no other",
        arguments: [
            block((":method", "POST"), (":scheme", "https")),
            block((":method", "POST"), (":path", "/")),
            block((":scheme", "https"), (":path", "/")),
            block((":method", "CONNECT"), (":authority", "a")),
            block((":method", "POST"), (":scheme", "https"), (":path", "")),
            block((":method", "POST"), (":method", "POST"), (":scheme", "https"), (":path", "/")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), (":status", "200")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), (":unknown", "1")),
            block((":method", "POST"), (":scheme", "https"), ("x", "y"), (":path", "/")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("Upper", "1")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("with space", "1")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("with\u{7f}delete", "1")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("with:colon", "1")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("connection", "keep-alive")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("proxy-connection", "x")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("keep-alive", "x")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("transfer-encoding", "chunked")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("upgrade", "h2c")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("te", "gzip")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("x", " y")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("x", "y\t")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("x", "a\r\nb")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("x", "a\0b")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("content-length", "-1")),
            block(
                (":method", "POST"), (":scheme", "https"), (":path", "/"), ("content-length", "1"),
                ("content-length", "2")),
        ])
    func malformed(block: [UInt8]) throws {
        var server = ServerUnderTest()
        server.receive(.headers(1, block, end: false), .data(1, [1], end: true), .headers(3, requestBlock, end: true))
        #expect(server.resets == ["1 PROTOCOL_ERROR us"])
        #expect(try server.written() == [.reset(1, 1)])
        #expect(server.events.requests.map(\.streamID) == [3])
    }

    @Test(
        "Unusual but well-formed requests pass",
        arguments: [
            block((":path", "/"), (":method", "POST"), (":scheme", "https")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("te", "trailers")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("x", "")),
            block(
                (":method", "POST"), (":scheme", "https"), (":path", "/"), ("content-length", "1"),
                ("content-length", "1")),
            block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("x", "\u{fc}n\u{ef}")),
        ])
    func wellFormed(block: [UInt8]) {
        var server = ServerUnderTest()
        server.receive(.headers(1, block, end: false), .data(1, [1], end: true))
        #expect(server.events.requests.count == 1, "\(server.events.others)")
    }

    @Test(
        "A content-length that the body does not have is malformed",
        arguments: [
            ("5", [RawFrame.data(1, [1, 2, 3], end: true)]),
            ("2", [.data(1, [1, 2, 3], end: false), .data(1, [], end: true)]),
            ("2", []),
        ])
    func contentLength(length: String, frames: [RawFrame]) {
        var server = ServerUnderTest()
        let fields = block((":method", "POST"), (":scheme", "https"), (":path", "/"), ("content-length", length))
        server.receive(.headers(1, fields, end: frames.isEmpty))
        for frame in frames { server.receive(frame) }
        #expect(server.resets == ["1 PROTOCOL_ERROR us"])
        #expect(server.events.requests.isEmpty)
    }

    @Test("A body longer than the bound is reported cut and can be answered; its rest is thrown away")
    func truncated() throws {
        var limits = HTTP2Limits.server
        limits.maxBodySize = 4
        var server = ServerUnderTest(limits: limits)
        server.receive(
            .headers(1, requestBlock, end: false), .data(1, [1, 2, 3], end: false), .data(1, [4, 5], end: false))
        let request = try #require(server.events.requests.first)
        #expect(request.isTruncated)
        #expect(server.body(of: request) == [1, 2, 3, 4])
        server.receive(.data(1, [6], end: false))
        server.session.respond(streamID: 1, status: 413)
        #expect(try server.written().map(\.type) == [1])
        #expect(server.session.openStreams == 1)
        server.receive(
            .data(1, [7], end: true), .headers(3, requestBlock, end: false), .data(3, [1, 2, 3, 4, 5], end: true))
        #expect(server.events.requests.map(\.isTruncated) == [true, true])
        #expect(server.session.failure == nil)
        server.session.respond(streamID: 3, status: 413)
        #expect(try server.written().map(\.type) == [1])
        #expect(server.session.openStreams == 0)
    }

    @Test("A client that goes on and on with a body already answered is reset with NO_ERROR")
    func endlessBody() throws {
        var limits = HTTP2Limits.server
        limits.maxBodySize = 4
        limits.maxDiscardedBody = 100_000
        var server = ServerUnderTest(limits: limits)
        server.receive(.headers(1, requestBlock, end: false), .data(1, [1, 2, 3, 4, 5], end: false))
        server.session.respond(streamID: 1, status: 413)
        for _ in 0..<6 { server.receive(.data(1, [UInt8](repeating: 0, count: 16_000), end: false)) }
        #expect(try server.written().contains { $0.type == 3 } == false)
        server.receive(.data(1, [UInt8](repeating: 0, count: 16_000), end: false))
        #expect(try server.written() == [.reset(1, 0)])
        server.receive(.data(1, [UInt8](repeating: 0, count: 16_000), end: true))
        #expect(server.session.failure == nil && server.session.openStreams == 0)
    }

    @Test("A client that stops sending once it has its answer is reset with NO_ERROR when the budget is renewed")
    func abandonedBody() throws {
        var limits = HTTP2Limits.server
        limits.maxBodySize = 4
        var server = ServerUnderTest(limits: limits)
        for stream: UInt32 in [1, 3] {
            server.receive(.headers(stream, requestBlock, end: false), .data(stream, [1, 2, 3, 4, 5], end: false))
        }
        server.session.respond(streamID: 1, status: 413)
        _ = server.session.takeOutput()
        server.session.renewFrameBudget()
        #expect(try server.written() == [.reset(1, 0)])
        #expect(server.session.isOpen(3))
    }

    @Test("A client whose SETTINGS make the table smaller gets the size update it waits for, once")
    func owedSizeUpdate() throws {
        var server = ServerUnderTest()
        server.receive(.settings((1, 0)), .headers(1, requestBlock, end: true), .headers(3, requestBlock, end: true))
        _ = server.session.takeOutput()
        server.session.respond(streamID: 1, headerBlock: [0x88])
        server.session.respond(streamID: 3, headerBlock: [0x88])
        #expect(try server.written() == [.headers(1, [0x20, 0x88], end: true), .headers(3, [0x88], end: true)])
    }

    @Test("Streams past the limit are refused, and the table of header fields stays in step")
    func refused() throws {
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = 2
        var server = ServerUnderTest(limits: limits)
        var table = requestBlock
        HPACKWriter.appendLiteral(name: "x".utf8, value: "in the table".utf8, indexing: .incremental, to: &table)
        server.receive(.headers(1, requestBlock, end: true), .headers(3, requestBlock, end: false))
        server.receive(.headers(5, table, end: false), .data(5, [1], end: true), .data(3, [2], end: true))
        #expect(try server.written() == [.reset(5, 7)])
        #expect(server.events.requests.map(\.streamID) == [1, 3])
        server.session.respond(streamID: 1, headerBlock: [0x88])
        server.receive(.headers(7, requestBlock + [0xbe], end: true))
        #expect(server.events.requests.last.map { server.events.headers(of: $0) }?.first(name: "x") == "in the table")
        #expect(server.session.failure == nil)
    }

    @Test("A client whose stream numbers collide is served within the limit, and each stream gets its own answer")
    func collidingNumbers() throws {
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = 30
        var server = ServerUnderTest(limits: limits)
        func open(_ range: Range<UInt32>) throws -> Int {
            var refused = 0
            for index in range {
                server.receive(.headers(1 + index << 20, requestBlock, end: true))
                refused += try server.written().filter { $0.type == 3 && $0.payload == big32(7) }.count
            }
            return refused
        }
        #expect(try open(0..<40) == 10)
        #expect(server.events.requests.count == 30 && server.session.openStreams == 30)
        for index in UInt32(0)..<30 {
            let isAnswered = server.session.respond(streamID: 1 + index << 20, headerBlock: [0x88])
            #expect(isAnswered)
            #expect(try server.written() == [.headers(1 + index << 20, [0x88], end: true)])
        }
        #expect(server.session.openStreams == 0)
        #expect(try open(40..<50) == 0)
        #expect(server.session.failure == nil)
    }

    @Test("A stream that stays open does not stop the others, however many come")
    func stuckStream() {
        var server = ServerUnderTest()
        server.receive(.headers(1, requestBlock, end: true))
        for index in UInt32(1)..<20_000 {
            server.receive(.headers(1 + index * 2, requestBlock, end: true))
            server.session.respond(streamID: 1 + index * 2, headerBlock: [0x88])
        }
        #expect(server.events.requests.count == 20_000)
        #expect(server.session.openStreams == 1 && server.session.isOpen(1))
        let isAnswered = server.session.respond(streamID: 1, headerBlock: [0x88])
        #expect(isAnswered && server.session.openStreams == 0)
    }

    @Test("A client that resets its requests over and over is told to calm down")
    func rapidReset() throws {
        var limits = HTTP2Limits.server
        limits.maxResets = 50
        var server = ServerUnderTest(limits: limits)
        var stream: UInt32 = 1
        while server.session.failure == nil, stream < 1000 {
            server.receive(.headers(stream, requestBlock, end: true), .reset(stream, 8))
            stream += 2
        }
        #expect(server.connectionError == .enhanceYourCalm)
        #expect(stream == 103)
    }

    @Test(
        "So is one that makes us reset them",
        arguments: [
            RawFrame.windowUpdate(0, 0), .headers(0, block((":method", "GET")), end: true),
            .headers(0, block(("x", "y")), end: false),
        ])
    func madeYouReset(frame: RawFrame) throws {
        var limits = HTTP2Limits.server
        limits.maxResets = 50
        var server = ServerUnderTest(limits: limits)
        var stream: UInt32 = 1
        while server.session.failure == nil, stream < 1000 {
            var frame = frame
            frame.stream = stream
            if frame.type == 8 { server.receive(.headers(stream, requestBlock, end: true)) }
            server.receive(frame)
            stream += 2
        }
        #expect(server.connectionError == .enhanceYourCalm)
        #expect(stream == 103)
    }

    @Test("Resets now and then among answered requests are fine")
    func occasionalReset() {
        var limits = HTTP2Limits.server
        limits.maxResets = 5
        var server = ServerUnderTest(limits: limits)
        for index in UInt32(0)..<200 {
            let stream = 1 + index * 2
            server.receive(.headers(stream, requestBlock, end: true))
            if index % 3 == 0 {
                server.receive(.reset(stream, 8))
            } else {
                server.session.respond(streamID: stream, headerBlock: [0x88])
            }
        }
        #expect(server.session.failure == nil)
        #expect(server.resets.count == 67)
    }

    @Test("After our GOAWAY later streams are ignored, earlier ones answered")
    func goAway() throws {
        var server = ServerUnderTest()
        for stream: UInt32 in [1, 3, 5] { server.receive(.headers(stream, requestBlock, end: true)) }
        server.session.goAway(lastStreamID: 3, code: .noError, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        server.receive(.headers(7, requestBlock, end: false), .data(7, [1], end: true))
        #expect(server.session.respond(streamID: 3, headerBlock: [0x88]) == true)
        #expect(server.session.respond(streamID: 5, headerBlock: [0x88]) == false)
        let frames = try server.written()
        #expect(frames.first == .goAway(3, 0, Array(#"{"reason":"Shutdown"}"#.utf8)))
        #expect(frames.map(\.type) == [7, 1])
        #expect(server.events.requests.count == 3 && server.session.failure == nil)
    }

    @Test("A server that takes no more answers what it took, resets what has not ended, and ignores what comes")
    func takesNoMore() throws {
        var server = ServerUnderTest()
        server.receive(
            .headers(1, requestBlock, end: true), .headers(3, requestBlock, end: false),
            .headers(5, requestBlock, end: true), .headers(7, requestBlock, end: false))
        server.session.takeNoMore()
        #expect(try server.written() == [.reset(7, 7), .reset(3, 7)])
        // The rest of what has begun, and what begins now.
        server.receive(
            .data(3, [1], end: true), .data(7, [1], end: true), .headers(9, requestBlock, end: false),
            .data(9, [1], end: true), .headers(11, requestBlock, end: true))
        #expect(server.session.respond(streamID: 1, headerBlock: [0x88]) == true)
        #expect(server.session.respond(streamID: 5, headerBlock: [0x88]) == true)
        #expect(server.session.respond(streamID: 9, headerBlock: [0x88]) == false)
        #expect(server.session.openStreams == 0)
        server.session.goAway()
        #expect(try server.written().map(\.type) == [1, 1, 7])
        #expect(server.events.requests.map(\.streamID) == [1, 5] && server.session.failure == nil)
    }

    @Test("The GOAWAY of a server that takes no more names the last request that it took", arguments: [0, 1, 2, 3])
    func lastTaken(unfinished: Int) throws {
        var server = ServerUnderTest()
        for (index, stream) in ([1, 3, 5] as [UInt32]).enumerated() {
            server.receive(.headers(stream, requestBlock, end: index < 3 - unfinished))
        }
        server.session.takeNoMore()
        server.receive(.headers(7, requestBlock, end: true))
        server.session.goAway()
        let last = [5, 3, 1, 0][unfinished]
        #expect(try server.written().last == .goAway(UInt32(last), 0))
    }

    @Test("Who has its answer need not go on with its request at a server that takes no more")
    func takesNoMoreOfBodies() throws {
        var limits = HTTP2Limits.server
        limits.maxBodySize = 1
        var server = ServerUnderTest(limits: limits)
        // Both are reported cut; one is answered before, the other behind.
        for stream: UInt32 in [1, 3] {
            server.receive(.headers(stream, requestBlock, end: false), .data(stream, [1, 2], end: false))
        }
        #expect(server.session.respond(streamID: 1, headerBlock: [0x88]) == true)
        _ = try server.written()
        server.session.takeNoMore()
        #expect(try server.written() == [.reset(1, 0)])
        #expect(server.session.respond(streamID: 3, headerBlock: [0x88]) == true)
        #expect(try server.written().map(\.type) == [1, 3])
        #expect(server.session.openStreams == 0)
    }

    @Test("SETTINGS changed at run time bind the client once it has acknowledged them")
    func changedSettings() throws {
        var server = ServerUnderTest()
        server.receive(.headers(1, requestBlock, end: false))
        #expect(
            server.session.changeSettings(maxConcurrentStreams: 1, initialWindowSize: 10, headerTableSize: 0) == true)
        #expect(try server.written() == [.settings((1, 0), (3, 1), (4, 10))])
        server.receive(.data(1, [UInt8](repeating: 1, count: 60_000 % 16384), end: false))
        #expect(server.resets.isEmpty, "not acknowledged: the old window counts")
        server.receive(.settingsAck)
        #expect(try server.written() == [.windowUpdate(1, 10_848)])
        server.receive(.data(1, [UInt8](repeating: 1, count: 11), end: false))
        #expect(server.resets == ["1 FLOW_CONTROL_ERROR us"])
        server.receive(.headers(3, requestBlock, end: true), .headers(5, requestBlock, end: true))
        #expect(try server.written().contains(.reset(5, 7)))
        var table = requestBlock
        HPACKWriter.appendLiteral(name: "x".utf8, value: "y".utf8, indexing: .incremental, to: &table)
        server.receive(.headers(7, table, end: true), .headers(9, [0xbe], end: true))
        #expect(server.connectionError == .compressionError)
    }

    @Test("A reset stream is forgotten: what still arrives for it is ignored")
    func reset() throws {
        var server = ServerUnderTest()
        server.receive(.headers(1, requestBlock, end: false))
        #expect(server.session.reset(streamID: 1, code: .internalError) == true)
        #expect(try server.written() == [.reset(1, 2)])
        server.receive(.data(1, [1], end: false), .windowUpdate(1, 1), .data(1, [], end: true))
        #expect(server.session.failure == nil && server.session.openStreams == 0)
        #expect(server.session.respond(streamID: 1, headerBlock: [0x88]) == false)
    }
}
