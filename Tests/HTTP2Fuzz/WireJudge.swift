import HostileHTTP2

/// Reads what a session writes, knowing what its peer wrote, and holds it to RFC 9113: flow control to the byte, stream
/// numbers and states, frame sizes, what must be acknowledged. Shares no code with the session.
///
/// It is exact only when it is given one frame of the peer's at a time, each before what the session wrote because of it.
struct WireJudge {
    struct Stream {
        /// What the session may still send.
        var window: Int
        /// How much of the body it has sent.
        var sent = 0
        var isEnded = false
        /// The peer sent HEADERS: GOAWAY does not end it any more.
        var hasBegun = false
        /// The peer sent END_STREAM.
        var isAnswered = false
        /// What its body is made of.
        var seed: Int
        /// What the session may still receive.
        var receiveWindow: Int
    }

    let isClient: Bool
    private(set) var streams: [UInt32: Stream] = [:]
    private var output: FrameCutter
    private var input: FrameCutter
    private var connectionWindow = 65_535
    private var initialWindow = 65_535
    private var maxFrameSize = 16_384
    /// Nil: no limit.
    private(set) var streamLimit: Int?
    private(set) var hasSettings = false
    private var highest: UInt32 = 0
    private var owedSettingsAcks = 0
    private var owedPongs: [[UInt8]] = []
    private(set) var closed: [UInt32] = []
    /// Frames of the peer's that move nothing; its owner sets it back when something moves.
    var idleFrames = 0
    private(set) var goAwaySent: UInt32?
    /// Streams on which the peer has ever sent END_STREAM.
    private(set) var everAnswered: Set<UInt32> = []
    private(set) var written = 0

    init(isClient: Bool) {
        self.isClient = isClient
        output = FrameCutter(hasPreface: isClient)
        input = FrameCutter(hasPreface: !isClient)
    }

    var open: [UInt32] { streams.keys.sorted() }
    var highestStream: UInt32 { highest }
    var hasDebts: Bool { owedSettingsAcks > 0 || !owedPongs.isEmpty }

    private func fail(_ what: String) -> Breach { Breach("it wrote what it must not: \(what)") }

    private mutating func close(_ id: UInt32) {
        if streams.removeValue(forKey: id) != nil, closed.count < 1000 { closed.append(id) }
    }

    // MARK: What the peer writes

    mutating func peerWrote(_ bytes: [UInt8]) {
        for frame in input.frames(bytes) {
            if frame.endsStream { everAnswered.insert(frame.stream) }
            switch frame.kind {
            case WireFrame.Kind.data, WireFrame.Kind.headers, WireFrame.Kind.continuation, WireFrame.Kind.reset: break
            default: idleFrames += 1
            }
            take(frame)
        }
    }

    private mutating func take(_ frame: WireFrame) {
        switch frame.kind {
        case WireFrame.Kind.settings where frame.stream == 0 && !frame.isAck && frame.payload.count % 6 == 0:
            takeSettings(frame)
        case WireFrame.Kind.windowUpdate:
            guard frame.payload.count == 4, let increment = frame.number(at: 0) else { return }
            if frame.stream == 0 {
                connectionWindow += Int(increment & 0x7fff_ffff)
            } else {
                streams[frame.stream]?.window += Int(increment & 0x7fff_ffff)
            }
        case WireFrame.Kind.ping where !frame.isAck && frame.payload.count == 8 && frame.stream == 0:
            owedPongs.append(frame.payload)
        case WireFrame.Kind.headers where !isClient:
            if frame.stream & 1 == 1, frame.stream > highest {
                highest = frame.stream
                streams[frame.stream] = Stream(window: initialWindow, seed: 0, receiveWindow: 0)
            }
            if frame.endsStream { streams[frame.stream]?.isAnswered = true }
        case WireFrame.Kind.headers, WireFrame.Kind.data:
            if frame.kind == WireFrame.Kind.headers { streams[frame.stream]?.hasBegun = true }
            if frame.endsStream { streams[frame.stream]?.isAnswered = true }
        case WireFrame.Kind.reset where frame.payload.count == 4: close(frame.stream)
        case WireFrame.Kind.goAway where isClient && frame.stream == 0:
            guard let last = frame.number(at: 0) else { return }
            for id in open where id > last & 0x7fff_ffff && streams[id]?.hasBegun == false { close(id) }
        default: break
        }
    }

    private mutating func takeSettings(_ frame: WireFrame) {
        owedSettingsAcks += 1
        hasSettings = true
        for offset in stride(from: 0, to: frame.payload.count, by: 6) {
            guard frame.payload[offset] == 0 else { continue }
            let value = Int(frame.number(at: offset + 2) ?? 0)
            switch frame.payload[offset + 1] {
            case 3: streamLimit = value
            case 4:
                for id in streams.keys { streams[id]?.window += value - initialWindow }
                initialWindow = value
            case 5: maxFrameSize = value
            default: break
            }
        }
    }

    // MARK: What the session writes

    /// - Parameter bodyOf: the byte that a stream's body has at an offset; nil where nobody knows.
    mutating func sessionWrote(_ bytes: [UInt8], isWhole: Bool = true, bodySeed: (UInt32) -> Int) throws(Breach) {
        written += bytes.count
        for frame in output.frames(bytes) {
            try judge(frame, bodySeed)
        }
        if isWhole, !output.isEven { throw Breach("what it wrote ends inside a frame") }
    }

    private mutating func judge(_ frame: WireFrame, _ bodySeed: (UInt32) -> Int) throws(Breach) {
        guard frame.payload.count <= max(16_384, maxFrameSize) else { throw fail("\(frame.payload.count) bytes") }
        switch frame.kind {
        case WireFrame.Kind.headers: try judgeHeaders(frame, bodySeed)
        case WireFrame.Kind.data: try judgeData(frame)
        case WireFrame.Kind.reset:
            guard frame.stream != 0, frame.payload.count == 4 else { throw fail("a malformed RST_STREAM") }
            close(frame.stream)
        case WireFrame.Kind.settings where frame.isAck:
            guard owedSettingsAcks > 0 else { throw fail("an acknowledgement of SETTINGS that nobody sent") }
            owedSettingsAcks -= 1
        case WireFrame.Kind.ping where frame.isAck:
            guard !owedPongs.isEmpty, owedPongs.removeFirst() == frame.payload else { throw fail("a wrong pong") }
        case WireFrame.Kind.windowUpdate:
            guard let increment = frame.number(at: 0), increment & 0x7fff_ffff > 0, frame.payload.count == 4 else {
                throw fail("a WINDOW_UPDATE of nothing")
            }
            guard frame.stream == 0 || streams[frame.stream] != nil else {
                throw fail("a WINDOW_UPDATE for the closed stream \(frame.stream)")
            }
        case WireFrame.Kind.goAway: goAwaySent = frame.number(at: 0)
        case WireFrame.Kind.settings, WireFrame.Kind.ping, WireFrame.Kind.continuation: break
        default: throw fail("a frame of type \(frame.kind)")
        }
    }

    private mutating func judgeHeaders(_ frame: WireFrame, _ bodySeed: (UInt32) -> Int) throws(Breach) {
        let id = frame.stream
        if isClient {
            guard id & 1 == 1, id > highest else { throw fail("a request on stream \(id) after \(highest)") }
            highest = id
            guard streams.count < streamLimit ?? .max else {
                throw fail("a request more than the \(streamLimit ?? 0) streams allowed")
            }
            guard hasSettings || streams.isEmpty else { throw fail("a second request before SETTINGS") }
            streams[id] = Stream(window: initialWindow, seed: bodySeed(id), receiveWindow: 65_535)
        } else {
            guard streams[id] != nil, streams[id]?.isEnded == false else { throw fail("an answer on stream \(id)") }
            streams[id]?.seed = bodySeed(id)
        }
        if frame.endsStream { end(id) }
    }

    private mutating func judgeData(_ frame: WireFrame) throws(Breach) {
        let id = frame.stream
        guard var stream = streams[id], !stream.isEnded else { throw fail("DATA on stream \(id), which is over") }
        let count = frame.payload.count
        stream.window -= count
        connectionWindow -= count
        guard count == 0 || (stream.window >= 0 && connectionWindow >= 0) else {
            throw fail("\(count) bytes more than the windows of stream \(id) allow")
        }
        for (index, byte) in frame.payload.enumerated() where byte != Self.byte(stream.seed, stream.sent + index) {
            throw fail("byte \(stream.sent + index) of the body on stream \(id)")
        }
        stream.sent += count
        streams[id] = stream
        if frame.endsStream { end(id) }
    }

    private mutating func end(_ id: UInt32) {
        // An answer that is out, perhaps by a window that opened just now, earns the peer a new budget.
        if !isClient { idleFrames = 0 }
        streams[id]?.isEnded = true
        if streams[id]?.isAnswered == true { close(id) }
    }

    /// Streams that both sides have ended.
    mutating func forgetAnswered() {
        for (id, stream) in streams where stream.isAnswered && stream.isEnded { close(id) }
    }

    static func byte(_ seed: Int, _ offset: Int) -> UInt8 { UInt8(truncatingIfNeeded: seed &* 31 &+ offset &* 7) }

    static func body(_ seed: Int, _ count: Int) -> [UInt8] { (0..<count).map { byte(seed, $0) } }
}
