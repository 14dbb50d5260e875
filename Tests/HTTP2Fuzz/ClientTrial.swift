import HoldfastHTTP2
import HostileHTTP2
import Trials

/// A client session against a server that may do anything.
struct ClientTrial {
    private let temper: Temper
    private var random: SeededRandom
    private var limits: HTTP2Limits
    private var session: HTTP2ClientSession
    private var events = HTTP2ClientEvents()
    private var judge = WireJudge(isClient: true)
    private var splitter = Splitter(hasPreface: false)
    private var server = HonestServer()
    private var situation = Situation(isServer: true)
    private let malice: Malice
    /// It never reads what the session writes.
    private let isDeaf: Bool

    private var next: UInt64 = 0
    private var tags: [UInt32: UInt64] = [:]
    private var streamOf: [UInt64: UInt32] = [:]
    /// What became of each request, in the words of ``HonestServer/verdicts``.
    private var ends: [UInt64: String] = [:]
    private var mostHeld = 0
    private var received = 0
    private static let longestChunk = 1 << 16
    private static let longestBody = 5000

    init(_ temper: Temper, seed: UInt64) {
        self.temper = temper
        var random = SeededRandom(seed: seed)
        var limits = HTTP2Limits.client
        limits.maxConcurrentStreams = random.one(of: [10, 200, 4096])
        limits.maxIncoming = random.one(of: [1 << 14, 1 << 18, 8 << 20])
        limits.maxIdleFrames = random.one(of: [500, 10_000])
        if temper == .honest { (limits.maxIncoming, limits.maxIdleFrames) = (8 << 20, 10_000) }
        let isDeaf = temper != .honest && random.once(in: 6)
        if isDeaf { limits.maxQueuedOutput = 1 << 16 }
        malice = random.one(of: Malice.allCases)
        session = HTTP2ClientSession(limits: limits, decodesSuccesses: random.once(in: 4))
        self.isDeaf = isDeaf
        self.limits = limits
        self.random = random
    }

    mutating func run(_ tally: inout Tally) throws(Breach) {
        do throws(Breach) {
            try write()
            let opening = server.opening(&random).flatMap(\.bytes)
            try hear(temper == .wild && random.once(in: 4) ? random.bytes(40) : opening)
            for _ in 0..<(temper == .flood ? 60 : 100) where session.failure == nil {
                try act()
                try hear(turn())
                try check()
            }
            if temper == .honest { try finish() }
            if session.failure != nil { try checkSilence() }
        } catch {
            throw Breach("client, \(temper), \(malice)\(isDeaf ? ", unread" : ""): \(error)")
        }
        tally.add(messages: ends.count, bytes: received, mostHeld: mostHeld, failure: session.failure)
    }

    // MARK: Our side

    private mutating func act() throws(Breach) {
        for _ in 0..<random.below(temper == .flood ? 40 : 8) where session.availableStreams > 0 {
            let body = WireJudge.body(Int(next), random.below(random.one(of: [1, 200, Self.longestBody])))
            let result = session.startRequest(
                tag: next, headerBlock: HeaderBlocks.request, body: body, bodyRange: body.indices)
            guard case .started(let id) = result else {
                try demand(isDeaf || result == .full, "a request was refused: \(result)")
                break
            }
            tags[id] = next
            streamOf[next] = id
            next += 1
        }
        switch random.below(40) {
        case 0:
            if let tag = session.openTags.randomElement(using: &random), let id = streamOf[tag] {
                try demand(session.cancel(streamID: id) == tag, "stream \(id) was not the one of \(tag)")
                try end(tag, "cancelled")
            }
        case 1: session.ping(random.next())
        case 2: renew()
        case 3 where random.once(in: 10): session.goAway()
        default: break
        }
        try write()
    }

    private mutating func renew() {
        session.renewFrameBudget()
        judge.idleFrames = 0
    }

    private mutating func write() throws(Breach) {
        guard !isDeaf else { return }
        try judge.sessionWrote(session.takeOutput()) { Int(tags[$0] ?? 0) }
        judge.forgetAnswered()
    }

    // MARK: The server's

    private mutating func turn() -> [UInt8] {
        situation.open = isDeaf ? tags.keys.sorted() : judge.open
        situation.closed = judge.closed
        situation.highest = judge.highestStream
        var bytes = server.frames(isDeaf ? [] : judge.open, &random).flatMap(\.bytes)
        switch temper {
        case .honest: break
        case .sly:
            if random.once(in: 10) { bytes += random.one(of: Malice.allCases).bytes(&situation, &random) }
        case .flood:
            for _ in 0..<random.one(of: [1, 20, 300]) where bytes.count < Self.longestChunk / 4 {
                bytes += malice.bytes(&situation, &random)
            }
        case .noisy:
            if random.once(in: 6) { bytes = HeaderBlocks.mutated(bytes, &random) }
        case .wild:
            for _ in 0..<random.below(6) { bytes += random.one(of: Malice.allCases).bytes(&situation, &random) }
        }
        return bytes
    }

    private mutating func hear(_ bytes: [UInt8]) throws(Breach) {
        for piece in splitter.pieces(bytes, &random) where session.failure == nil {
            received += piece.count
            judge.peerWrote(piece)
            session.receive(piece.span, events: &events)
            try take()
            try write()
            try demand(
                judge.idleFrames <= limits.maxIdleFrames || session.failure != nil,
                "\(judge.idleFrames) frames that move nothing were taken")
            mostHeld = max(mostHeld, session.heldBytes)
        }
    }

    // MARK: What came of it

    private mutating func end(_ tag: UInt64, _ how: String) throws(Breach) {
        judge.idleFrames = 0
        try demand(tag < next, "a request ended that was never made: \(tag)")
        if let before = ends.updateValue(how, forKey: tag) {
            throw Breach("request \(tag) ended twice: \(before), then \(how)")
        }
    }

    private mutating func take() throws(Breach) {
        for tag in events.succeeded {
            try end(tag, "200")
            try demand(
                judge.everAnswered.contains(streamOf[tag] ?? 0), "request \(tag) succeeded without having been answered"
            )
        }
        for event in events.others {
            switch event {
            case .response(let tag, let response):
                let text = String(decoding: response.body, as: UTF8.self)
                try end(tag, "\(response.status)\(text.isEmpty ? "" : " ")\(text)")
                try demand(response.body.count <= limits.maxBodySize, "a body of \(response.body.count) bytes")
            case .reset(let tag, let code, let byPeer, let hasAnswered):
                try end(tag, byPeer && code == .refusedStream && !hasAnswered ? "refused" : "reset")
            case .goAway(let goAway):
                for tag in goAway.neverProcessed { try end(tag, "never processed") }
                try demand(goAway.debugData.count <= limits.maxDebugData, "debug data of \(goAway.debugData.count)")
            case .connectionError, .settingsChanged, .pong: break
            }
        }
        events.removeAll()
    }

    private mutating func check() throws(Breach) {
        let open = session.openTags
        try demand(open.count == session.openStreams, "\(session.openStreams) streams, \(open.count) tags")
        try demand(open.allSatisfy { ends[$0] == nil }, "a request that has ended is still open")
        try demand(open.count + ends.count == Int(next), "\(Int(next) - open.count - ends.count) requests are gone")
        let bound = limits.greatestHeld(chunk: Self.longestChunk, body: Self.longestBody)
        try demand(session.heldBytes <= bound, "\(session.heldBytes) bytes are held, more than \(bound)")
        if session.failure == nil, !isDeaf {
            try demand(!judge.hasDebts, "SETTINGS or a PING were not acknowledged")
        }
    }

    /// After a connection error nothing is received, written or reported any more.
    private mutating func checkSilence() throws(Breach) {
        try check()
        if !isDeaf { try demand(judge.goAwaySent != nil, "a connection error without GOAWAY") }
        _ = session.takeOutput()
        session.receive(turn().span, events: &events)
        try demand(events.isEmpty && !session.hasOutput, "something came after the end")
        try demand(
            session.startRequest(tag: 0, headerBlock: [0x83], body: [], bodyRange: 0..<0) == .noStream,
            "a request started after the end")
    }

    /// An honest server is understood to the last word.
    private mutating func finish() throws(Breach) {
        try demand(session.failure == nil, "an honest server was failed: \(session.failure as Any)")
        for _ in 0..<5 where session.openStreams > 0 || !server.isDone {
            try hear(server.rest(judge.open).flatMap(\.bytes))
        }
        try check()
        try demand(session.failure == nil, "an honest server was failed: \(session.failure as Any)")
        try demand(session.openStreams == 0, "\(session.openStreams) requests have no answer")
        try demand(session.heldBack == 0 && session.heldBytes == 0, "\(session.heldBytes) bytes are still held")
        for (id, verdict) in server.verdicts {
            guard let tag = tags[id], let end = ends[tag], end != "cancelled" else { continue }
            try demand(end == verdict, "stream \(id): heard \(end), said \(verdict)")
        }
    }
}
