import HoldfastHTTP2
import Testing

@Suite("A client that breaks the protocol")
struct ServerErrorTests {
    static let violations =
        Violation.common.map { violation in
            var violation = violation
            // Stream 1 is open, its header fields read; what is wrong with a header block must show on a new stream.
            violation.frames = violation.frames.map { frame in
                var frame = frame
                if frame.stream == 1, frame.type == 1 || frame.type == 9 { frame.stream = 3 }
                if frame.stream == 3, frame.type == 9, violation.name == "CONTINUATION of another stream" {
                    frame.stream = 5
                }
                return frame
            }
            return violation
        } + [
            Violation("HEADERS on an even stream", .protocolError, .headers(2, requestBlock, end: true)),
            Violation(
                "HEADERS behind the end of a stream", .streamClosed, .headers(3, requestBlock, end: true),
                .headers(3, requestBlock, end: true)),
            Violation(
                "DATA behind the end of a stream", .streamClosed, .headers(3, requestBlock, end: true),
                .data(3, [], end: true)),
            Violation("DATA behind RST_STREAM", .streamClosed, .reset(1, 8), .data(1, [1], end: true)),
            Violation(
                "A stream number that goes back", .streamClosed, .headers(9, requestBlock, end: true),
                .headers(7, requestBlock, end: true)),
        ]

    @Test("is told so with the code that RFC 9113 names", arguments: violations)
    func violation(_ violation: Violation) throws {
        var server = ServerUnderTest()
        server.receive(.headers(1, requestBlock, end: false))
        _ = server.session.takeOutput()
        for frame in violation.frames { server.receive(frame) }
        #expect(server.connectionError == violation.code, "\(server.events.others)")
        let last = try #require(try server.written().last)
        #expect(last.type == 7)
        #expect(Array(last.payload[4..<8]) == big32(violation.code.rawValue))
        let events = server.events.others.count
        server.receive(.ping([1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(server.events.others.count == events)
        #expect(!server.session.hasOutput)
        #expect(server.session.respond(streamID: 1, headerBlock: [0x88]) == false)
    }

    @Test("is found out by its preface", arguments: ["GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\rX"])
    func preface(text: String) {
        var server = ServerUnderTest(isOpen: false)
        for byte in text.utf8 { server.receive([byte]) }
        #expect(server.connectionError == .protocolError)
    }

    @Test("is found out when its first frame is not SETTINGS")
    func firstFrame() {
        var server = ServerUnderTest(isOpen: false)
        server.receive(RawFrame.preface + RawFrame.headers(1, requestBlock, end: true).bytes)
        #expect(server.connectionError == .protocolError)
        #expect(server.events.requests.isEmpty)
    }

    @Test(
        "cannot flood us with frames that move nothing",
        arguments: [
            RawFrame.settings, .ping([0, 0, 0, 0, 0, 0, 0, 0]), .windowUpdate(0, 1),
            RawFrame(type: 2, stream: 7, payload: [0, 0, 0, 0, 9]),
            RawFrame(type: 0x10, payload: [0]), .data(1, [], end: false), .reset(3, 0), .goAway(0, 0),
        ])
    func flood(frame: RawFrame) {
        var limits = HTTP2Limits.server
        limits.maxIdleFrames = 100
        var server = ServerUnderTest(limits: limits)
        server.receive(.headers(1, requestBlock, end: false), .headers(3, requestBlock, end: true))
        server.session.respond(streamID: 3, headerBlock: [0x88])
        server.session.renewFrameBudget()
        for _ in 0..<100 { server.receive(frame) }
        #expect(server.session.failure == nil)
        server.receive(frame)
        #expect(server.connectionError == .enhanceYourCalm)
    }
}
