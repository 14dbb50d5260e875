import HoldfastHTTP2
import Testing

/// A client session whose peer is the test, frame by frame.
struct ClientUnderTest {
    var session: HTTP2ClientSession
    var events = HTTP2ClientEvents()

    /// - Parameter settings: what the peer opens with; nil leaves the handshake to the test.
    init(
        limits: HTTP2Limits = .client, decodesSuccesses: Bool = false, firstStreamID: UInt32 = 1,
        settings: RawFrame? = .settings((3, 1000))
    ) {
        session = HTTP2ClientSession(limits: limits, decodesSuccesses: decodesSuccesses, firstStreamID: firstStreamID)
        guard let settings else { return }
        receive(settings, .settingsAck)
        events.removeAll()
        _ = session.takeOutput()
    }

    mutating func receive(_ frames: RawFrame...) { receive(frames.flatMap(\.bytes)) }

    mutating func receive(_ bytes: [UInt8]) { session.receive(bytes.span, events: &events) }

    /// Starts a request and returns its stream.
    @discardableResult
    mutating func start(tag: UInt64, body: [UInt8] = [1, 2, 3]) throws -> UInt32 {
        let result = session.startRequest(tag: tag, headerBlock: [0x83], body: body, bodyRange: body.indices)
        guard case .started(let streamID) = result else {
            throw UnexpectedResult(description: "not started: \(result)")
        }
        return streamID
    }

    /// The frames written since the last call.
    mutating func written() throws -> [RawFrame] {
        try #require(RawFrame.parse(session.takeOutput()), "the output ends inside a frame")
    }

    var connectionError: HTTP2ErrorCode? {
        for case .connectionError(let error) in events.others { return error.code }
        return nil
    }

    var resets: [String] {
        events.others.compactMap {
            if case .reset(let tag, let code, let byPeer, _) = $0 {
                "\(tag) \(code) \(byPeer ? "peer" : "us")"
            } else {
                nil
            }
        }
    }

    var responses: [(tag: UInt64, response: HTTP2Response)] {
        events.others.compactMap { if case .response(let tag, let response) = $0 { (tag, response) } else { nil } }
    }

    var goAways: [HTTP2GoAway] {
        events.others.compactMap { if case .goAway(let goAway) = $0 { goAway } else { nil } }
    }
}

/// A server session whose peer is the test.
struct ServerUnderTest {
    var session: HTTP2ServerSession
    var events = HTTP2ServerEvents()

    init(limits: HTTP2Limits = .server, isOpen: Bool = true) {
        session = HTTP2ServerSession(limits: limits)
        guard isOpen else { return }
        receive(RawFrame.preface + RawFrame.settings.bytes + RawFrame.settingsAck.bytes)
        events.removeAll()
        _ = session.takeOutput()
    }

    mutating func receive(_ frames: RawFrame...) { receive(frames.flatMap(\.bytes)) }

    mutating func receive(_ bytes: [UInt8]) { session.receive(bytes.span, events: &events) }

    mutating func written() throws -> [RawFrame] {
        try #require(RawFrame.parse(session.takeOutput()), "the output ends inside a frame")
    }

    var connectionError: HTTP2ErrorCode? {
        for case .connectionError(let error) in events.others { return error.code }
        return nil
    }

    var resets: [String] {
        events.others.compactMap {
            if case .reset(let stream, let code, let byPeer) = $0 {
                "\(stream) \(code) \(byPeer ? "peer" : "us")"
            } else {
                nil
            }
        }
    }

    func body(of request: HTTP2ServerEvents.Request) -> [UInt8] { Array(events.bodies[request.body]) }
}

/// What every test's request looks like.
let requestBlock = block((":method", "POST"), (":scheme", "https"), (":path", "/3/device/00"), (":authority", "test"))

struct UnexpectedResult: Error, CustomStringConvertible { var description: String }
