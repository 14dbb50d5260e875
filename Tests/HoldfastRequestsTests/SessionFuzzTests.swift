import Holdfast
import HoldfastHTTP2
import HoldfastRequests
import HostileHTTP2
import SessionRig
import Testing
import Trials

/// A service that does anything, at any time: the session crashes never, reports each ticket once, and does not spin.
@Suite("A session and a service that does anything") struct SessionFuzzTests {
    @Test(
        "Whatever the service does, each ticket is reported once, and rightly called sent or not sent",
        arguments: 0..<300)
    func anything(seed: Int) {
        let isHostile = seed.isMultiple(of: 3)
        var random = SeededRandom(seed: UInt64(seed))
        let rig = SessionFuzz(&random, isHostile: isHostile)
        for _ in 0..<120 where rig.isOver == false { rig.act(&random) }
        rig.finish(&random)
        let told = rig.rig.told
        #expect(told.violations == [], "seed \(seed)")
        #expect(rig.isOver && rig.rig.session.nextLook == nil, "seed \(seed)")
        // A service that keeps to the protocol is never told that it broke it, and neither are we.
        if !isHostile {
            #expect(rig.rig.service.failure == nil, "seed \(seed)")
            #expect(told.end?.cause?.contains("broke HTTP/2") != true, "seed \(seed)")
        }
    }

    @Test("The seeds reach every kind of end and of answer") func coverage() {
        var verdicts: Set<SendResult.Verdict> = []
        var ends = (clean: 0, possiblySent: 0, confirmed: 0, stalls: 0)
        for seed in 0..<300 {
            var random = SeededRandom(seed: UInt64(seed))
            let fuzz = SessionFuzz(&random, isHostile: seed.isMultiple(of: 3))
            for _ in 0..<120 where fuzz.isOver == false { fuzz.act(&random) }
            fuzz.finish(&random)
            let told = fuzz.rig.told
            verdicts.formUnion(told.results.values.map(\.verdict))
            ends.confirmed += told.confirmed.count
            ends.stalls += told.stalls.count
            if told.end?.possiblySent?.isEmpty == false { ends.possiblySent += 1 }
            if told.end != nil, told.end?.cause == nil { ends.clean += 1 }
        }
        #expect(
            verdicts.isSuperset(of: [
                .confirmed, .unknown, .neverProcessed(.none), .neverProcessed(.newConnection), .deferred(.service),
                .rejected(.notification),
            ]))
        #expect(ends.confirmed > 300 && ends.stalls > 0 && ends.possiblySent > 10 && ends.clean > 10, "\(ends)")
    }
}

/// One run: a session, a service, and what may happen to them.
private final class SessionFuzz {
    let rig: SessionRig<PostDialect>
    private let isHostile: Bool
    private var answered: Set<UInt32> = []
    private var situation = Situation(isServer: true)

    init(_ random: inout SeededRandom, isHostile: Bool) {
        self.isHostile = isHostile
        var settings = RequestSettings.sample
        settings.sendDeadline = .milliseconds(random.one(of: [0, 500, 30_000, 30_000, 30_000]))
        settings.idleClose = random.one(of: [nil, nil, .seconds(3), .seconds(100)])
        settings.maximumBody = random.one(of: [10, 8192])
        settings.decodesSuccesses = random.once(in: 2)
        if random.once(in: 10) { settings.firstStreamID = 0x7FFF_FFFF - 2 * UInt32(random.below(20)) }
        var dialect = PostDialect()
        dialect.startsAlone = random.once(in: 3)
        rig = SessionRig(dialect, settings, streams: random.one(of: [1, 3, 20, 100]))
        if !random.once(in: 5) { rig.handOut(random.below(4)) }
        rig.step { $0.begin(at: $1) }
        if !random.once(in: 10) { rig.exchange() }
    }

    var isOver: Bool { rig.told.end != nil || rig.told.connectError != nil }

    /// One thing happens.
    func act(_ random: inout SeededRandom) {
        switch random.below(20) {
        case 0...4: rig.handOut(random.below(random.once(in: 10) ? 60 : 6))
        case 5...10: answer(&random)
        case 11: advance(&random)
        case 12: changeSettings(&random)
        case 13: reset(&random)
        case 14: rig.step { session, now in session.pump(at: now) }
        case 15: toggleWritability(&random)
        case 16 where random.once(in: 6): goAway(&random)
        case 17 where random.once(in: 12): end(&random)
        case 18 where isHostile: malice(&random)
        default: carry(&random)
        }
    }

    /// Time and the end of the channel bring every session to its end.
    func finish(_ random: inout SeededRandom) {
        if random.once(in: 2) { rig.step { $0.close(deadline: .seconds(2), at: $1) } }
        rig.advance(.seconds(5))
        rig.step { $0.lose("the channel is closed", at: $1) }
        rig.advance(.seconds(5))
        rig.toService()
        rig.told.checkEnd()
    }

    private func carry(_ random: inout SeededRandom) {
        rig.toService()
        rig.toSession(inPiecesOf: random.one(of: [nil, 1, 5, 9, 100]))
    }

    private func advance(_ random: inout SeededRandom) {
        rig.advance(.milliseconds(random.one(of: [0, 1, 300, 1000, 2500, random.once(in: 6) ? 90_000 : 10])))
    }

    private func answer(_ random: inout SeededRandom) {
        rig.toService()
        let open = rig.service.requests.map(\.streamID).filter { !answered.contains($0) }
        guard !open.isEmpty else { return }
        for _ in 0...random.below(10) {
            let stream = random.one(of: open)
            let status = random.one(of: [200, 200, 200, 200, 200, 200, 404, 429, 500, 503])
            let body = [UInt8](repeating: 0x78, count: random.one(of: [0, 0, 0, 3, 50]))
            guard answered.insert(stream).inserted else { continue }
            if random.once(in: 6) {
                // It begins to answer.
                let head = HTTP2ServerSession.headerBlock(status: status)
                rig.service.session.sendHeaders(streamID: stream, headerBlock: head, endStream: false)
                if random.once(in: 2) { rig.service.session.reset(streamID: stream, code: .refusedStream) }
            } else {
                rig.service.session.respond(streamID: stream, status: status, body: body)
            }
        }
        if random.once(in: 2) { carry(&random) }
    }

    private func reset(_ random: inout SeededRandom) {
        rig.toService()
        guard let stream = rig.service.requests.last?.streamID, answered.insert(stream).inserted else { return }
        rig.service.session.reset(streamID: stream, code: random.one(of: [.refusedStream, .internalError, .cancel]))
    }

    private func changeSettings(_ random: inout SeededRandom) {
        rig.service.session.changeSettings(
            maxConcurrentStreams: random.one(of: [0, 1, 10, 200]),
            initialWindowSize: random.one(of: [nil, 0, 5, 65535]),
            headerTableSize: random.one(of: [nil, 0, 100, 4096]))
    }

    private func goAway(_ random: inout SeededRandom) {
        let streams = rig.service.requests.map(\.streamID)
        let last = random.one(of: [nil, 0x7FFF_FFFF, 0, streams.isEmpty ? 0 : random.one(of: streams)])
        rig.service.session.goAway(
            lastStreamID: last, debugData: Array(random.one(of: ["", "restart", "locked out"]).utf8))
    }

    private func toggleWritability(_ random: inout SeededRandom) {
        let isWritable = !random.once(in: 4)
        rig.step { session, now in
            session.setWritable(isWritable)
            session.pump(at: now)
        }
    }

    private func end(_ random: inout SeededRandom) {
        switch random.below(4) {
        case 0: rig.step { $0.close(deadline: .seconds(1), at: $1) }
        case 1: rig.step { $0.retire(at: $1) }
        case 2: rig.step { $0.giveUp("given up", at: $1) }
        default: rig.step { $0.lose("reset", at: $1) }
        }
    }

    /// Bytes that no service should write.
    private func malice(_ random: inout SeededRandom) {
        rig.toService()
        let streams = rig.service.requests.map(\.streamID)
        situation.open = streams.filter { !answered.contains($0) }
        situation.closed = streams.filter { answered.contains($0) }
        situation.highest = streams.max() ?? 0
        let bytes = random.one(of: Malice.allCases).bytes(&situation, &random)
        rig.read([rig.service.session.takeOutput(), bytes], size: random.one(of: [nil, 1, 7]))
    }
}
