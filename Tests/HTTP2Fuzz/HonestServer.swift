import HostileHTTP2
import Trials

/// A server that answers as it should, in every way that is allowed, its frames for many streams mixed.
struct HonestServer {
    /// What it has yet to send on each stream.
    private var scripts: [UInt32: ArraySlice<WireFrame>] = [:]
    private var planned: Set<UInt32> = []
    /// Streams on which it has begun to answer: it ends what it has begun, whatever GOAWAY says.
    private var begun: Set<UInt32> = []
    /// What the client must hear of each stream.
    private(set) var verdicts: [UInt32: String] = [:]

    /// By how much it opens the connection's window at a time, at most; a narrow one makes bodies wait for it.
    private var greatestUpdate = 50_000
    /// The last stream that it processes, once it has said so.
    private var lastStream: UInt32?

    var isDone: Bool { scripts.isEmpty }

    mutating func opening(_ random: inout SeededRandom) -> [WireFrame] {
        greatestUpdate = random.one(of: [300, 5000, 50_000])
        var parameters: [(UInt16, UInt32)] = [(3, UInt32(random.one(of: [1, 5, 100, 1000])))]
        if random.once(in: 2) { parameters.append((4, UInt32(random.one(of: [0, 50, 3000, 1 << 20])))) }
        if random.once(in: 3) { parameters.append((1, UInt32(random.one(of: [0, 100, 65_536])))) }
        if random.once(in: 3) { parameters.append((5, UInt32(random.one(of: [16_384, 20_000, 1 << 20])))) }
        if random.once(in: 5) { parameters.append((0x4242, 7)) }
        return [.settings(parameters), .settingsAck]
    }

    /// Its next frames.
    ///
    /// - Parameter open: the streams that wait for an answer.
    mutating func frames(_ open: [UInt32], _ random: inout SeededRandom) -> [WireFrame] {
        for id in open where !planned.contains(id) && !random.once(in: 4) { plan(id, &random) }
        if lastStream == nil, open.count > 3, random.once(in: 100) {
            // What is above is over, unless its answer was begun.
            let last = open[open.count / 2]
            lastStream = last
            for id in open where id > last && !begun.contains(id) {
                scripts[id] = nil
                verdicts[id] = "never processed"
            }
            return [.goAway(last, 0, Array(#"{"reason":"Shutdown"}"#.utf8))]
        }
        var frames: [WireFrame] = []
        for _ in 0..<random.below(20) {
            guard let id = scripts.keys.sorted().randomElement(using: &random) else { break }
            // A header block is never interrupted: its frames are one step.
            repeat {
                if let frame = scripts[id]?.popFirst() { frames.append(frame) }
                begun.insert(id)
            } while scripts[id]?.first?.kind == WireFrame.Kind.continuation
            if scripts[id]?.isEmpty == true { scripts[id] = nil }
        }
        if random.once(in: 3) { frames.append(.windowUpdate(0, UInt32(1 + random.below(greatestUpdate)))) }
        if !open.isEmpty, random.once(in: 2) {
            frames.append(.windowUpdate(random.one(of: open), UInt32(1 + random.below(2000))))
        }
        switch random.below(40) {
        case 0: frames.append(.settings([(4, UInt32(random.below(5000)))] as [(UInt16, UInt32)]))
        case 1: frames.append(.settings([(3, UInt32(1 + random.below(50)))] as [(UInt16, UInt32)]))
        case 2: frames.append(.settings([(1, UInt32(random.one(of: [0, 4096])))] as [(UInt16, UInt32)]))
        case 3: frames.append(.ping(random.bytes(8)))
        case 4: frames.append(WireFrame(kind: 77, payload: random.bytes(random.below(30))))
        case 5:
            frames.append(WireFrame(kind: WireFrame.Kind.priority, stream: open.first ?? 1, payload: [0, 0, 0, 0, 1]))
        default: break
        }
        return frames
    }

    /// What is left, with windows as wide as they can be.
    mutating func rest(_ open: [UInt32]) -> [WireFrame] {
        var frames: [WireFrame] = [.windowUpdate(0, 1 << 24)]
        for id in open { frames.append(.windowUpdate(id, 1 << 20)) }
        for id in scripts.keys.sorted() { frames += scripts[id] ?? [] }
        scripts = [:]
        for id in open where !planned.contains(id) {
            planned.insert(id)
            verdicts[id] = "200"
            frames.append(.headers(id, HeaderBlocks.status(200), end: true))
        }
        return frames
    }

    private mutating func plan(_ id: UInt32, _ random: inout SeededRandom) {
        planned.insert(id)
        let ok = HeaderBlocks.status(200, [("apns-id", "5b9a7cbb-0000-4000-8000-000000000000")])
        var frames: [WireFrame] = []
        if random.once(in: 6) { frames.append(.headers(id, HeaderBlocks.status(103), end: false)) }
        switch random.below(8) {
        case 0, 1:
            frames.append(.headers(id, ok, end: true))
            verdicts[id] = "200"
        case 2:
            frames += [.headers(id, ok, end: false), .data(id, [], end: true)]
            verdicts[id] = "200"
        case 3:
            frames += [.headers(id, ok, end: false), .headers(id, HeaderBlocks.block([("x-done", "yes")]), end: true)]
            verdicts[id] = "200"
        case 4:
            frames += [.headers(id, ok, end: false), .data(id, Array("hello".utf8), end: true)]
            verdicts[id] = "200 hello"
        case 5:
            // Behind an informational response it is a contradiction, and the response holds.
            verdicts[id] = frames.isEmpty ? "refused" : "reset"
            frames.append(.reset(id, 7))
        case 6:
            // In pieces, padded, its header block cut.
            let block = HeaderBlocks.status(410, [("apns-id", "x"), ("content-length", "10")])
            frames += [
                WireFrame(kind: WireFrame.Kind.headers, stream: id, payload: Array(block.prefix(3))),
                WireFrame(kind: WireFrame.Kind.continuation, flags: 4, stream: id, payload: Array(block.dropFirst(3))),
                WireFrame(kind: WireFrame.Kind.data, flags: 8, stream: id, payload: [2] + Array("0123".utf8) + [0, 0]),
                .data(id, [], end: false), .data(id, Array("456789".utf8), end: true),
            ]
            verdicts[id] = "410 0123456789"
        default:
            frames += [
                .headers(id, HeaderBlocks.status(503, [("retry-after", "1")]), end: false),
                .data(id, Array("busy".utf8), end: true),
            ]
            verdicts[id] = "503 busy"
        }
        scripts[id] = frames[...]
    }
}
