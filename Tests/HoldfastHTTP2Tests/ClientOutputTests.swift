import HoldfastHTTP2
import Testing
import Trials

@Suite("What the client writes")
struct ClientOutputTests {
    @Test("A connection begins with the preface, SETTINGS and a wide window, to the byte")
    func preface() {
        var session = HTTP2ClientSession()
        let expected =
            RawFrame.preface
            + [0, 0, 30, 4, 0, 0, 0, 0, 0]
            + [0, 1, 0, 0, 0, 0] + [0, 2, 0, 0, 0, 0] + [0, 3, 0, 0, 0, 100] + [0, 4, 0, 0, 255, 255]
            + [0, 6, 0, 0, 64, 0]
            + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 15, 0, 1]
        #expect(session.takeOutput() == expected)
        #expect(!session.hasOutput)
    }

    @Test("A request is HEADERS and DATA with END_STREAM, to the byte")
    func request() throws {
        var client = ClientUnderTest()
        let result = client.session.startRequest(
            tag: 7, headerBlock: [0x83, 0x87], body: [9, 8, 7, 6], bodyRange: 1..<3)
        #expect(result == .started(streamID: 1))
        #expect(
            client.session.takeOutput() == [0, 0, 2, 1, 4, 0, 0, 0, 1, 0x83, 0x87] + [0, 0, 2, 0, 1, 0, 0, 0, 1, 8, 7])
        try client.start(tag: 8, body: [])
        #expect(client.session.takeOutput() == [0, 0, 1, 1, 5, 0, 0, 0, 3, 0x83])
    }

    @Test("A header block longer than a frame goes on in CONTINUATION")
    func continuation() throws {
        var client = ClientUnderTest()
        let block = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
        _ = client.session.startRequest(tag: 1, headerBlock: block, body: [5], bodyRange: 0..<1)
        let frames = try client.written()
        #expect(frames.map(\.type) == [1, 9, 9, 0])
        #expect(frames.map(\.flags) == [0, 0, 4, 1])
        #expect(frames.dropLast().flatMap(\.payload) == block)
        #expect(frames.allSatisfy { $0.payload.count <= 16384 && $0.stream == 1 })
    }

    @Test("Before the peer's SETTINGS one request may start, then as many as it says")
    func streamsAvailable() throws {
        var client = ClientUnderTest(settings: nil)
        #expect(client.session.availableStreams == 1)
        try client.start(tag: 1)
        #expect(client.session.availableStreams == 0)
        client.receive(.settings((3, 3), (1, 0)))
        #expect(client.session.availableStreams == 2)
        #expect(client.session.peerHeaderTableSize == 0)
        guard case .settingsChanged(3, 0)? = client.events.others.last else {
            Issue.record("no settingsChanged: \(client.events.others)")
            return
        }
        try client.start(tag: 2)
        try client.start(tag: 3)
        #expect(
            client.session.startRequest(tag: 4, headerBlock: [0x83], body: [], bodyRange: 0..<0) == .noStream)
        client.receive(.settings((3, 1)))
        let available = client.session.availableStreams
        #expect(available == 0)
        client.receive(.headers(1, [0x88], end: true), .headers(3, [0x88], end: true), .headers(5, [0x88], end: true))
        #expect(client.session.availableStreams == 1)
    }

    @Test("PING and GOAWAY are written, and no request starts after GOAWAY")
    func pingAndGoAway() throws {
        var client = ClientUnderTest()
        let streamID = try client.start(tag: 5)
        _ = client.session.takeOutput()
        client.session.ping(0x0102_0304_0506_0708)
        client.session.goAway()
        #expect(try client.written() == [.ping([1, 2, 3, 4, 5, 6, 7, 8]), .goAway(0, 0)])
        #expect(client.session.availableStreams == 0)
        #expect(client.session.isFinished)
        client.receive(.ping([1, 2, 3, 4, 5, 6, 7, 8], ack: true), .headers(streamID, [0x88], end: true))
        guard case .pong(0x0102_0304_0506_0708)? = client.events.others.first else {
            Issue.record("no pong")
            return
        }
        #expect(client.events.succeeded == [5])
    }

    @Test("The stream numbers run out: nothing starts any more, what is open is still answered")
    func exhaustion() throws {
        var client = ClientUnderTest(firstStreamID: 0x7fff_fffd)
        #expect(client.session.availableStreams == 2)
        try client.start(tag: 1)
        #expect(!client.session.isExhausted)
        let last = try client.start(tag: 2)
        #expect(last == 0x7fff_ffff)
        #expect(client.session.availableStreams == 0)
        #expect(client.session.isExhausted && client.session.isFinished)
        #expect(client.session.startRequest(tag: 3, headerBlock: [0x83], body: [], bodyRange: 0..<0) == .noStream)
        client.receive(.headers(last, [0x88], end: true))
        #expect(client.events.succeeded == [2])
    }

    @Test("A request that is never answered does not stop those after it, however many")
    func stuckStream() throws {
        var client = ClientUnderTest()
        try client.start(tag: 999)
        var stream: UInt32 = 0
        for tag in UInt64(0)..<5000 {
            stream = try client.start(tag: tag)
            client.receive(.headers(stream, [0x88], end: true))
            _ = client.session.takeOutput()
        }
        #expect(client.events.succeeded == Array(0..<5000))
        #expect(client.session.openTags == [999])
        client.receive(.headers(1, [0x88], end: true))
        #expect(client.events.succeeded.last == 999)
        #expect(client.session.openStreams == 0)
    }

    @Test("Thousands of requests may be open, in any order of answers")
    func manyOpen() throws {
        var client = ClientUnderTest(settings: .settings((3, 100_000), (4, 1000)))
        var streams: [UInt32] = []
        for tag in UInt64(0)..<4096 { streams.append(try client.start(tag: tag, body: [])) }
        #expect(client.session.availableStreams == 0)
        #expect(client.session.openTags == Array(0..<4096))
        var random = SeededRandom(seed: 4)
        for stream in streams.shuffled(using: &random) { client.receive(.headers(stream, [0x88], end: true)) }
        #expect(client.events.succeeded.sorted() == Array(0..<4096))
        #expect(client.session.openStreams == 0)
    }

    @Test("When the driver does not take the output, requests are refused instead of piling up")
    func fullOutput() throws {
        var limits = HTTP2Limits.client
        limits.maxQueuedOutput = 1000
        var client = ClientUnderTest(limits: limits)
        var started = 0
        while client.session.availableStreams > 0, started < 500 {
            if client.session.startRequest(
                tag: 0, headerBlock: [0x83], body: [UInt8](repeating: 0, count: 90), bodyRange: 0..<90) == .full
            {
                break
            }
            started += 1
        }
        #expect(started == 10)
        _ = client.session.takeOutput()
        try client.start(tag: 1)
    }
}
