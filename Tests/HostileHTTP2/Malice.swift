package import Trials

/// What a hostile peer does. Each writes frames; most can be repeated into a flood.
package enum Malice: String, CaseIterable {
    case lyingLength, oversizedFrame, unknownType, wrongStream, idleStream, closedStream, evenStream, pushPromise
    case hpackGarbage, oddMessage, hugeHeaderList, endlessContinuation, emptyContinuation, strayContinuation
    case interruptedBlock, emptyData, dataOutOfPlace, floodingData, padding, settings, settingsAck, badSettings
    case initialWindow, tableSize, streamLimit, ping, pong, badLength, priority, reset, refuse, badReset
    case windowUpdateZero, windowUpdateOverflow, windowUpdateDrip, goAway, fallingGoAway, badGoAway, informational
    case doubleHeaders, openAndReset, streamJump, randomBytes
}

/// What a hostile peer knows of the conversation.
package struct Situation {
    /// Open as far as it knows.
    package var open: [UInt32] = []
    /// Over.
    package var closed: [UInt32] = []
    /// The highest stream used so far.
    package var highest: UInt32 = 0
    /// It plays the server, so the client's streams are not its own to open.
    package var isServer: Bool
    /// How much it flooded already: for what must change each time.
    package var count: UInt32 = 0

    package init(open: [UInt32] = [], closed: [UInt32] = [], highest: UInt32 = 0, isServer: Bool) {
        (self.open, self.closed, self.highest, self.isServer) = (open, closed, highest, isServer)
    }

    /// A stream of its own (for a client) or one that is not open.
    package mutating func nextStream() -> UInt32 {
        highest &+= highest == 0 ? 1 : 2
        return highest
    }
}

extension Malice {
    /// One piece of it.
    package func bytes(_ s: inout Situation, _ random: inout SeededRandom) -> [UInt8] {
        s.count &+= 1
        return frames(&s, &random).flatMap(\.bytes)
    }

    private typealias Kind = WireFrame.Kind

    private func frames(_ s: inout Situation, _ random: inout SeededRandom) -> [WireFrame] {
        let some: UInt32 = s.open.isEmpty ? 1 : random.one(of: s.open)
        switch self {
        case .lyingLength, .oversizedFrame, .unknownType, .wrongStream, .badLength, .randomBytes:
            return [malformed(some, &random)]
        case .idleStream: return [anything(on: s.highest &+ 2 &+ 2 * UInt32(random.below(50)), &random)]
        case .closedStream: return [anything(on: s.closed.isEmpty ? some : random.one(of: s.closed), &random)]
        case .evenStream: return [anything(on: 2 * UInt32(random.below(20)), &random)]
        case .pushPromise:
            let block = HeaderBlocks.request
            return [WireFrame(kind: Kind.pushPromise, flags: 4, stream: some, payload: WireFrame.big32(2) + block)]
        case .hpackGarbage, .oddMessage, .hugeHeaderList, .doubleHeaders, .informational, .openAndReset, .streamJump:
            return messages(some, &s, &random)
        case .endlessContinuation, .emptyContinuation, .strayContinuation, .interruptedBlock:
            return continuations(s.isServer ? some : s.nextStream(), &random)
        case .emptyData, .dataOutOfPlace, .floodingData, .padding: return data(some, &random)
        case .settings, .settingsAck, .badSettings, .initialWindow, .tableSize, .streamLimit:
            return settings(&s, &random)
        case .ping: return [.ping(random.bytes(8))]
        case .pong: return [.ping(random.bytes(8), ack: true)]
        case .priority:
            let stream = random.one(of: [some, some, some, s.highest &+ 8, s.count % 100 == 0 ? 0 : some])
            return [WireFrame(kind: Kind.priority, stream: stream, payload: random.bytes(random.once(in: 20) ? 4 : 5))]
        case .reset: return [.reset(some, UInt32(random.below(20)))]
        case .refuse: return [.reset(some, 7)]
        case .badReset: return [WireFrame(kind: Kind.reset, stream: some, payload: random.bytes(random.below(9)))]
        case .windowUpdateZero: return [.windowUpdate(random.one(of: [some, some, 0]), 0)]
        case .windowUpdateOverflow: return [.windowUpdate(random.one(of: [some, 0]), 0x7fff_ffff)]
        case .windowUpdateDrip: return [.windowUpdate(random.one(of: [some, 0]), 1)]
        case .goAway: return [.goAway(random.one(of: [0x7fff_ffff, some, 0]), 0, random.bytes(random.below(2000)))]
        case .fallingGoAway: return [.goAway(s.highest > 2 * s.count ? s.highest - 2 * s.count : 0, 0)]
        case .badGoAway: return [WireFrame(kind: Kind.goAway, payload: random.bytes(random.below(8)))]
        }
    }

    private func malformed(_ some: UInt32, _ random: inout SeededRandom) -> WireFrame {
        let kind = UInt8(random.below(10))
        switch self {
        case .lyingLength:
            var frame = anything(on: some, &random)
            frame.claimedLength = max(0, frame.payload.count + random.one(of: [-1, 1, 9, 100, -9]))
            return frame
        case .oversizedFrame:
            var frame = WireFrame(kind: kind, flags: 4, stream: some, payload: [0, 0, 0, 0])
            frame.claimedLength = random.one(of: [16_385, 1 << 20, (1 << 24) - 1])
            return frame
        case .unknownType:
            return WireFrame(
                kind: UInt8(10 + random.below(246)), flags: UInt8(random.below(256)), stream: some,
                payload: random.bytes(random.below(100)))
        case .wrongStream:
            let stream: UInt32 = [Kind.settings, Kind.ping, Kind.goAway].contains(kind) ? some : 0
            return WireFrame(kind: kind, stream: stream, payload: [0, 0, 0, 0, 0, 0, 0, 1])
        case .badLength:
            return WireFrame(
                kind: random.one(of: [2, 3, 4, 6, 7, 8]), stream: random.one(of: [0, some]),
                payload: random.bytes(random.below(20)))
        default:
            let head = random.bytes(9)
            return WireFrame(
                kind: head[0], flags: head[1], stream: random.one(of: [some, UInt32(head[2])]),
                payload: random.bytes(random.below(300)))
        }
    }

    /// A frame of some type on a stream where it may be out of place.
    private func anything(on stream: UInt32, _ random: inout SeededRandom) -> WireFrame {
        switch random.below(6) {
        case 0: .data(stream, random.bytes(random.below(100)), end: random.once(in: 2))
        case 1: .headers(stream, HeaderBlocks.status(200), end: true)
        case 2: .headers(stream, HeaderBlocks.request, end: random.once(in: 2))
        case 3: .reset(stream, 8)
        case 4: .windowUpdate(stream, UInt32(1 + random.below(1000)))
        default: WireFrame(kind: Kind.priority, stream: stream, payload: [0, 0, 0, 1, 7])
        }
    }

    private func messages(_ some: UInt32, _ s: inout Situation, _ random: inout SeededRandom) -> [WireFrame] {
        let stream = s.isServer ? some : s.nextStream()
        switch self {
        case .hpackGarbage: return [.headers(stream, HeaderBlocks.garbage(&random), end: random.once(in: 2))]
        case .oddMessage: return [.headers(stream, HeaderBlocks.odd(&random), end: random.once(in: 2))]
        case .hugeHeaderList: return [.headers(stream, Array(HeaderBlocks.huge(&random).prefix(16_384)), end: true)]
        case .doubleHeaders:
            let block = s.isServer ? HeaderBlocks.status(400) : HeaderBlocks.request
            return [.headers(stream, block, end: false), .headers(stream, block, end: random.once(in: 2))]
        case .informational: return [.headers(some, HeaderBlocks.status(103), end: random.once(in: 50))]
        case .openAndReset:
            // A rapid reset, or one that makes the other side reset.
            let block = s.isServer ? HeaderBlocks.status(200) : HeaderBlocks.request
            return [
                .headers(stream, block, end: random.once(in: 2)),
                random.once(in: 2) ? .reset(stream, 8) : .windowUpdate(stream, 0),
            ]
        default:
            s.highest = random.one(of: [0x7fff_ffff, s.highest &+ 2048, s.highest &+ 65536]) & 0x7fff_ffff | 1
            return [.headers(s.highest, HeaderBlocks.request, end: random.once(in: 2))]
        }
    }

    private func continuations(_ stream: UInt32, _ random: inout SeededRandom) -> [WireFrame] {
        let first = WireFrame(kind: Kind.headers, flags: UInt8(random.below(2)), stream: stream, payload: [0x88])
        func more(_ payload: [UInt8], isLast: Bool = false, on stream: UInt32) -> WireFrame {
            WireFrame(kind: Kind.continuation, flags: isLast ? 4 : 0, stream: stream, payload: payload)
        }
        switch self {
        case .endlessContinuation:
            let part = [UInt8](repeating: 0x88, count: random.one(of: [1, 100, 4000]))
            return [first] + (0..<1 + random.below(20)).map { _ in more(part, on: stream) }
        case .emptyContinuation:
            let count = random.below(20)
            return [first] + (0..<count).map { more([], isLast: $0 == count - 1, on: stream) }
        case .strayContinuation: return [more([0x88], isLast: random.once(in: 2), on: stream)]
        default:
            return [first, random.once(in: 2) ? .ping([0, 0, 0, 0, 0, 0, 0, 0]) : more([], on: stream &+ 2)]
        }
    }

    private func data(_ some: UInt32, _ random: inout SeededRandom) -> [WireFrame] {
        switch self {
        case .emptyData: return [.data(some, [], end: false)]
        case .dataOutOfPlace: return [.data(some, random.bytes(random.below(50)), end: random.once(in: 3))]
        case .floodingData:
            return [.data(some, [UInt8](repeating: 7, count: random.one(of: [16_384, 4000, 1])), end: false)]
        default:
            let pad = UInt8(random.below(256))
            let content = random.bytes(random.below(20))
            let padding = [UInt8](repeating: 0, count: random.one(of: [Int(pad), 0, 1, 255]))
            return [
                WireFrame(
                    kind: random.below(2) == 0 ? Kind.data : Kind.headers, flags: random.one(of: [8, 9, 12, 13, 0x2c]),
                    stream: some, payload: random.once(in: 8) ? [] : [pad] + content + padding)
            ]
        }
    }

    private func settings(_ s: inout Situation, _ random: inout SeededRandom) -> [WireFrame] {
        switch self {
        case .settings: return [.settings([])]
        case .settingsAck: return [.settingsAck]
        case .initialWindow:
            return [.settings([(4, random.one(of: [0, 1, 65_535, 100, 0x7fff_ffff, 70_000 &+ s.count]))])]
        case .tableSize: return [.settings([(1, random.one(of: [0, 1, 4096, 65_536, .max])), (1, 0)])]
        case .streamLimit: return [.settings([(3, random.one(of: [0, 1, 2, 100, .max]))])]
        default:
            let bad: [WireFrame] = [
                .settings([(2, 2)]), .settings([(2, 1)]), .settings([(4, 0x8000_0000)]), .settings([(5, 16_383)]),
                .settings([(5, 1 << 24)]), .settings([(0xffff, 1)]),
                WireFrame(kind: Kind.settings, payload: random.bytes(random.below(30))),
                WireFrame(kind: Kind.settings, flags: 1, payload: [1, 2, 3, 4, 5, 6]),
                WireFrame(kind: Kind.settings, stream: 1),
                .settings((0..<2700).map { _ in (UInt16(1 + random.below(8)), 16_384) }),
            ]
            return [random.one(of: bad)]
        }
    }
}
