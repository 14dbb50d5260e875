import HoldfastHTTP2
import Testing

@Suite("Flow control")
struct FlowControlTests {
    private static let big = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test("A body larger than the windows goes out as they open, and no byte earlier")
    func bodyLargerThanWindows() throws {
        var client = ClientUnderTest(settings: .settings((4, 100_000), (3, 10)))
        try client.start(tag: 1, body: Self.big)
        var sent = try client.written().filter { $0.type == 0 }.flatMap(\.payload)
        #expect(sent.count == 65_535, "the connection's window")
        client.receive(.windowUpdate(0, 1))
        sent += try client.written().flatMap(\.payload)
        #expect(sent.count == 65_536)
        client.receive(.windowUpdate(0, 1_000_000))
        sent += try client.written().flatMap(\.payload)
        #expect(sent.count == 100_000, "the stream's window")
        client.receive(.settings((4, 150_000)))
        sent += try client.written().filter { $0.type == 0 }.flatMap(\.payload)
        #expect(sent.count == 150_000, "SETTINGS widen it")
        client.receive(.windowUpdate(1, 50_000))
        let last = try client.written()
        sent += last.flatMap(\.payload)
        #expect(sent == Self.big)
        #expect(last.last?.flags == 1)
        #expect(client.session.heldBack == 0)
        #expect(last.allSatisfy { $0.payload.count <= 16384 })
    }

    @Test("SETTINGS may take back what was used: the window is negative, and nothing goes out until it is paid back")
    func negativeWindow() throws {
        var client = ClientUnderTest(settings: .settings((4, 1000), (3, 10)))
        try client.start(tag: 1, body: Array(Self.big.prefix(1500)))
        _ = client.session.takeOutput()
        client.receive(.settings((4, 100)))
        #expect(try client.written() == [.settingsAck])
        client.receive(.windowUpdate(1, 900))
        #expect(try client.written().isEmpty, "-900 + 900 = 0")
        client.receive(.windowUpdate(1, 1))
        #expect(try client.written() == [.data(1, [Self.big[1000]], end: false)])
        try client.start(tag: 2, body: Array(Self.big.prefix(150)))
        #expect(try client.written().last?.payload.count == 100)
        client.receive(.windowUpdate(1, 499))
        #expect(try client.written().last?.flags == 1)
    }

    @Test("Many small bodies wait for the connection's window in their order")
    func manySmall() throws {
        var client = ClientUnderTest()
        for tag in UInt64(0)..<400 {
            try client.start(tag: tag, body: [UInt8](repeating: UInt8(tag & 255), count: 200))
        }
        let first = try client.written().filter { $0.type == 0 }
        #expect(first.count == 328 && first.last?.payload.count == 135 && first.last?.flags == 0)
        #expect(client.session.heldBack == 400 * 200 - 65_535)
        client.receive(.windowUpdate(0, 65))
        #expect(try client.written() == [.data(655, [UInt8](repeating: 71, count: 65), end: true)])
        client.receive(.windowUpdate(0, 1_000_000))
        let rest = try client.written()
        #expect(rest.map(\.stream) == stride(from: UInt32(657), through: 799, by: 2).map { $0 })
        #expect(rest.allSatisfy { $0.flags == 1 && $0.payload.count == 200 })
    }

    @Test("A stream whose own window is shut does not hold up the others")
    func shutStream() throws {
        var client = ClientUnderTest(settings: .settings((4, 0), (3, 10)))
        try client.start(tag: 1)
        try client.start(tag: 2)
        #expect(try client.written().map(\.type) == [1, 1])
        client.receive(.windowUpdate(3, 3))
        #expect(try client.written() == [.data(3, [1, 2, 3], end: true)])
        client.receive(.windowUpdate(0, 100))
        #expect(try client.written().isEmpty)
        client.receive(.settings((4, 3)))
        #expect(try client.written() == [.settingsAck, .data(1, [1, 2, 3], end: true)])
    }

    @Test("Requests are refused while too much is held back")
    func heldBackBound() throws {
        var limits = HTTP2Limits.client
        limits.maxHeldBack = 1000
        var client = ClientUnderTest(limits: limits, settings: .settings((4, 0), (3, 1000)))
        var started = 0
        while client.session.startRequest(tag: 0, headerBlock: [0x83], body: Self.big, bodyRange: 0..<300) != .full {
            started += 1
            try #require(started < 100)
        }
        #expect(started == 4)
        client.receive(.windowUpdate(1, 300))
        try client.start(tag: 1)
    }

    @Test("Cancelling gives back what is held, and the others move on")
    func cancelHeld() throws {
        var client = ClientUnderTest(settings: .settings((4, 10), (3, 10)))
        let first = try client.start(tag: 1, body: Array(Self.big.prefix(30)))
        try client.start(tag: 2, body: Array(Self.big.prefix(30)))
        client.session.cancel(streamID: first)
        #expect(client.session.heldBack == 20)
        _ = client.session.takeOutput()
        client.receive(.windowUpdate(3, 20))
        #expect(try client.written() == [.data(3, Array(Self.big[10..<30]), end: true)])
    }

    @Test("Our receive window opens in few large steps, for streams that we no longer want too")
    func receiveWindow() throws {
        var limits = HTTP2Limits.client
        limits.connectionReceiveWindow = 100_000
        limits.maxBodySize = 1 << 20
        var client = ClientUnderTest(limits: limits)
        let stream = try client.start(tag: 1)
        let chunk = [UInt8](repeating: 1, count: 10_000)
        client.receive(.headers(1, block((":status", "500")), end: false))
        _ = client.session.takeOutput()
        for _ in 0..<4 { client.receive(.data(1, chunk, end: false)) }
        #expect(try client.written() == [.windowUpdate(1, 40_000)])
        client.session.cancel(streamID: stream)
        for _ in 0..<2 { client.receive(.data(1, chunk, end: false)) }
        #expect(try client.written() == [.reset(1, 8), .windowUpdate(0, 60_000)])
    }

    @Test("A peer that sends more than the connection's window ends the connection")
    func connectionOverrun() throws {
        var limits = HTTP2Limits.server
        limits.streamReceiveWindow = 1_000_000
        limits.connectionReceiveWindow = 65_535
        limits.maxBodySize = 10
        var server = ServerUnderTest(limits: limits)
        // The window opens again at half, so that only frames in one go could overrun it; a frame is a quarter of it.
        // One that is never opened shows it: the padding counts too.
        server.receive(.headers(1, requestBlock, end: false))
        for _ in 0..<100 {
            server.receive(
                RawFrame(type: 0, flags: 8, stream: 1, payload: [255] + [UInt8](repeating: 0, count: 16_000)))
        }
        #expect(server.session.failure == nil)
        let opened = try server.written().filter { $0.type == 8 && $0.stream == 0 }
        #expect(opened.allSatisfy { $0.payload == big32(48_003) } && opened.count == 33)
    }

    @Test("A peer that sends more than a stream's window loses the stream")
    func streamOverrun() throws {
        var limits = HTTP2Limits.server
        limits.streamReceiveWindow = 100
        var server = ServerUnderTest(limits: limits)
        server.receive(.headers(1, requestBlock, end: false), .headers(3, requestBlock, end: false))
        server.receive(.data(1, [UInt8](repeating: 1, count: 60), end: false))
        server.receive(.data(1, [UInt8](repeating: 1, count: 100), end: false))
        #expect(server.resets.isEmpty, "the window was opened again at half")
        server.receive(.data(3, [UInt8](repeating: 1, count: 101), end: true))
        #expect(server.resets == ["3 FLOW_CONTROL_ERROR us"])
        let frames = try server.written()
        #expect(frames == [.windowUpdate(1, 60), .windowUpdate(1, 100), .reset(3, 3)])
    }

    @Test("A window of ours that our SETTINGS shut is opened again, though no DATA comes to do it")
    func shutByOurSettings() throws {
        var limits = HTTP2Limits.server
        limits.streamReceiveWindow = 20_000
        var server = ServerUnderTest(limits: limits, isOpen: false)
        server.receive(RawFrame.preface)
        server.receive(.settings, .headers(1, requestBlock, end: false))
        for _ in 0..<2 { server.receive(.data(1, [UInt8](repeating: 1, count: 15_000), end: false)) }
        _ = server.session.takeOutput()
        server.receive(.settingsAck)
        // 65535 - 30000 are left; SETTINGS take back 45535; the client may send nothing, and cannot ask.
        #expect(try server.written() == [.windowUpdate(1, 30_000)])
        server.receive(.data(1, [UInt8](repeating: 1, count: 15_000), end: false))
        #expect(server.resets.isEmpty)
    }

    @Test("A stream's window past 2^31-1 is a stream error")
    func streamOverflow() throws {
        var client = ClientUnderTest()
        try client.start(tag: 1)
        client.receive(.windowUpdate(1, 0x7fff_ffff))
        #expect(client.resets == ["1 FLOW_CONTROL_ERROR us"])
        #expect(client.session.failure == nil)
    }

    @Test("Answers wait for the client's windows as well, piece by piece")
    func answers() throws {
        var server = ServerUnderTest()
        server.receive(.settings((4, 5)), .headers(1, requestBlock, end: true))
        _ = server.session.takeOutput()
        server.session.sendHeaders(streamID: 1, headerBlock: [0x88], endStream: false)
        server.session.sendData(streamID: 1, [1, 2, 3, 4], endStream: false)
        server.session.sendData(streamID: 1, [5, 6, 7], endStream: false)
        server.session.sendData(streamID: 1, [8], endStream: false)
        server.session.sendData(streamID: 1, [], endStream: true)
        #expect(server.session.heldBack == 3)
        #expect(!server.session.isOpen(1))
        #expect(try server.written().filter { $0.type == 0 }.flatMap(\.payload) == [1, 2, 3, 4, 5])
        server.receive(.windowUpdate(1, 2))
        #expect(try server.written() == [.data(1, [6, 7], end: false)])
        #expect(server.session.openStreams == 1)
        server.receive(.windowUpdate(1, 10))
        #expect(try server.written() == [.data(1, [8], end: true)])
        #expect(server.session.openStreams == 0)
    }
}
