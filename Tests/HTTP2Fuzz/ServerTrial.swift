import HoldfastHTTP2
import HostileHTTP2
import Trials

/// A server session against a client that may do anything.
struct ServerTrial {
    private let temper: Temper
    private var random: SeededRandom
    private var limits: HTTP2Limits
    private var session: HTTP2ServerSession
    private var events = HTTP2ServerEvents()
    private var judge = WireJudge(isClient: false)
    private var splitter = Splitter(hasPreface: true)
    private var situation = Situation(isServer: false)
    private let malice: Malice
    private let isDeaf: Bool

    /// What an honest client has yet to send on each stream, and what it has asked for.
    private var scripts: [UInt32: ArraySlice<WireFrame>] = [:]
    private var bodies: [UInt32: [UInt8]] = [:]
    private var highest: UInt32 = 0
    /// Requests that wait for their answer.
    private var waiting: [UInt32] = []
    private var reported: Set<UInt32> = []
    private var gone: Set<UInt32> = []
    private var mostHeld = 0
    private var received = 0
    /// What our own answers may take while no window lets them out.
    private var greatestAnswers = 0
    /// The most streams we ever allowed.
    private var greatestLimit: Int
    /// By how much the client opens the connection's window at a time, at most.
    private let greatestUpdate: Int
    private static let longestChunk = 1 << 16

    init(_ temper: Temper, seed: UInt64) {
        self.temper = temper
        var random = SeededRandom(seed: seed)
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = random.one(of: [5, 100, 1000])
        limits.maxIncoming = random.one(of: [1 << 15, 1 << 20, 32 << 20])
        limits.maxIdleFrames = random.one(of: [500, 10_000])
        limits.streamReceiveWindow = random.one(of: [0, 100, 65_535, 1 << 20])
        if temper == .honest {
            (limits.maxIncoming, limits.maxIdleFrames, limits.streamReceiveWindow) = (32 << 20, 10_000, 65_535)
            limits.maxConcurrentStreams = 1000
        }
        let isDeaf = temper != .honest && random.once(in: 6)
        if isDeaf { limits.maxQueuedOutput = 1 << 16 }
        malice = random.one(of: Malice.allCases)
        greatestUpdate = random.one(of: [300, 5000, 50_000])
        session = HTTP2ServerSession(limits: limits)
        self.isDeaf = isDeaf
        self.limits = limits
        greatestLimit = limits.maxConcurrentStreams
        self.random = random
    }

    mutating func run(_ tally: inout Tally) throws(Breach) {
        do throws(Breach) {
            try write()
            let settings: [(UInt16, UInt32)] = [(4, UInt32(random.one(of: [0, 100, 65_535])))]
            let opening = WireFrame.preface + WireFrame.settings(settings).bytes + WireFrame.settingsAck.bytes
            try hear(temper == .wild && random.once(in: 4) ? HeaderBlocks.mutated(opening, &random) : opening)
            for _ in 0..<80 where session.failure == nil {
                try hear(turn())
                try act()
                try check()
            }
            if temper == .honest { try finish() }
            if session.failure != nil { try checkSilence() }
        } catch {
            throw Breach("server, \(temper), \(malice)\(isDeaf ? ", unread" : ""): \(error)")
        }
        tally.add(messages: reported.count, bytes: received, mostHeld: mostHeld, failure: session.failure)
    }

    // MARK: Our side

    private mutating func act() throws(Breach) {
        while !waiting.isEmpty, !random.once(in: 5) {
            let id = waiting.remove(at: random.below(waiting.count))
            // An answer earns a new budget too.
            judge.idleFrames = 0
            switch random.below(6) {
            case 0: session.reset(streamID: id, code: .refusedStream)
            case 1, 2: session.respond(streamID: id, headerBlock: HeaderBlocks.status(200))
            default:
                let body = WireJudge.body(Int(id), random.below(random.one(of: [10, 500, 4000])))
                greatestAnswers += 2 * body.count
                session.respond(streamID: id, status: 400, body: body)
            }
        }
        switch random.below(30) {
        case 0: session.ping(random.next())
        case 1: renew()
        case 2 where temper != .honest: session.changeSettings(initialWindowSize: random.below(70_000))
        case 3 where temper != .honest:
            let limit = 1 + random.below(100)
            // Those that are open already stay.
            if session.changeSettings(maxConcurrentStreams: limit) { greatestLimit = max(greatestLimit, limit) }
        case 4 where temper != .honest && random.once(in: 5): session.goAway()
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
        try judge.sessionWrote(session.takeOutput()) { Int($0) }
        judge.forgetAnswered()
    }

    // MARK: The client's

    private mutating func turn() -> [UInt8] {
        var bytes = honest()
        situation.open = judge.open
        situation.closed = judge.closed
        situation.highest = max(highest, judge.highestStream)
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
        highest = situation.highest | 1
        return bytes
    }

    private mutating func honest() -> [UInt8] {
        var frames: [WireFrame] = []
        for _ in 0..<random.below(6) where highest < 0x7fff_fff0 {
            highest = bodies.isEmpty && highest == 0 ? 1 : highest + 2
            let body = WireJudge.body(Int(highest), random.below(random.one(of: [1, 300, 5000])))
            bodies[highest] = body
            var script: [WireFrame] = [.headers(highest, HeaderBlocks.request, end: body.isEmpty)]
            // A stream is opened in the order of its number; what follows may mix.
            frames.append(script.removeFirst())
            var start = 0
            while start < body.count {
                let end = min(body.count, start + 1 + random.below(3000))
                script.append(.data(highest, Array(body[start..<end]), end: end == body.count))
                start = end
            }
            if !script.isEmpty { scripts[highest] = script[...] }
        }
        for _ in 0..<random.below(12) {
            guard let id = scripts.keys.sorted().randomElement(using: &random) else { break }
            if let frame = scripts[id]?.popFirst() { frames.append(frame) }
            if scripts[id]?.isEmpty == true { scripts[id] = nil }
        }
        if random.once(in: 3) { frames.append(.windowUpdate(0, UInt32(1 + random.below(greatestUpdate)))) }
        if let id = judge.open.first, random.once(in: 2) {
            frames.append(.windowUpdate(id, UInt32(1 + random.below(2000))))
        }
        switch random.below(30) {
        case 0: frames.append(.settings([(4, UInt32(random.below(5000)))] as [(UInt16, UInt32)]))
        case 1: frames.append(.ping(random.bytes(8)))
        case 2: frames.append(.settings([(1, UInt32(random.one(of: [0, 4096])))] as [(UInt16, UInt32)]))
        default: break
        }
        return frames.flatMap(\.bytes)
    }

    private mutating func hear(_ bytes: [UInt8]) throws(Breach) {
        for piece in splitter.pieces(bytes, &random) where session.failure == nil {
            received += piece.count
            judge.peerWrote(piece)
            session.receive(piece.span, events: &events)
            try take()
            try write()
            try demand(
                judge.idleFrames <= limits.maxIdleFrames || session.failure != nil || isDeaf,
                "\(judge.idleFrames) frames that move nothing were taken")
            mostHeld = max(mostHeld, session.heldBytes)
        }
    }

    // MARK: What came of it

    private mutating func take() throws(Breach) {
        for request in events.requests {
            let id = request.streamID
            try demand(reported.insert(id).inserted, "stream \(id) was reported twice")
            try demand(!gone.contains(id), "stream \(id) was reported after its end")
            try demand(request.body.count <= limits.maxBodySize, "a body of \(request.body.count) bytes")
            if temper == .honest {
                try demand(Array(events.bodies[request.body]) == bodies[id], "the body on stream \(id) is another")
            }
            waiting.append(id)
            judge.idleFrames = 0
        }
        for case .reset(let id, _, _) in events.others {
            try demand(gone.insert(id).inserted, "stream \(id) was reset twice")
            waiting.removeAll { $0 == id }
        }
        events.removeAll()
    }

    private mutating func check() throws(Breach) {
        try demand(session.openStreams <= greatestLimit, "\(session.openStreams) streams are open")
        let bound = limits.greatestHeld(chunk: Self.longestChunk, body: 0) + greatestAnswers
        try demand(session.heldBytes <= bound, "\(session.heldBytes) bytes are held, more than \(bound)")
        if session.failure == nil, !isDeaf {
            try demand(!judge.hasDebts, "SETTINGS or a PING were not acknowledged")
        }
    }

    private mutating func checkSilence() throws(Breach) {
        try check()
        if !isDeaf { try demand(judge.goAwaySent != nil, "a connection error without GOAWAY") }
        _ = session.takeOutput()
        session.receive(honest().span, events: &events)
        try demand(events.isEmpty && !session.hasOutput, "something came after the end")
        try demand(!session.respond(streamID: highest, status: 200), "an answer went out after the end")
    }

    /// An honest client has all its requests reported, and gets its answers.
    private mutating func finish() throws(Breach) {
        try demand(session.failure == nil, "an honest client was failed: \(session.failure as Any)")
        var frames: [WireFrame] = [.windowUpdate(0, 1 << 24)]
        for id in scripts.keys.sorted() { frames += scripts[id] ?? [] }
        try hear(frames.flatMap(\.bytes))
        for id in waiting { session.respond(streamID: id, status: 200) }
        waiting = []
        try write()
        try hear(judge.open.flatMap { WireFrame.windowUpdate($0, 1 << 20).bytes })
        try check()
        try demand(session.failure == nil, "an honest client was failed: \(session.failure as Any)")
        try demand(reported == Set(bodies.keys), "\(bodies.count - reported.count) requests were not reported")
        try demand(session.openStreams == 0, "\(session.openStreams) streams are still open")
        try demand(session.heldBytes == 0, "\(session.heldBytes) bytes are still held")
    }
}
