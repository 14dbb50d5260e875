import Holdfast
import HoldfastRequests
import Testing

@testable import HoldfastWebhooks

/// A receiver that refuses single outcomes, or all of them.
@Suite("An outcome that a webhook's receiver refuses") struct LoneRefusalTests {
    /// What a receiver was posted, and a machine that posts to it.
    private struct World {
        var machine: WebhookMachine
        /// Whether a request with these cursors is taken.
        var takes: ([UInt64]) -> PostResult
        /// What was taken, in order.
        var told: [UInt64] = []
        var posts: [[UInt64]] = []
        var news: [WebhookMachine.News] = []
        /// The log behind what the machine has read.
        var log: [UInt64]
        var now = Duration.zero
        /// How many of the log are read at a time.
        var page = 1000

        init(_ log: ClosedRange<UInt64>, takes: @escaping ([UInt64]) -> PostResult) throws {
            machine = WebhookMachine(try Samples.configuration(batch: 8), at: .start, newest: .start)
            (self.log, self.takes) = (Array(log), takes)
        }

        private var items: [UInt64] = []

        /// - Returns: false when there is nothing more to do but to wait for outcomes.
        mutating func step() throws -> Bool {
            switch machine.step {
            case .read(let after):
                let more = log.filter { $0 > after.rawValue }.prefix(page)
                guard let last = more.last else {
                    guard machine.readsOn else { return false }
                    machine.foundNothing()
                    return true
                }
                if !machine.readsOn { items = items.suffix(machine.keepsLast ? 1 : 0) }
                items += more
                let load = more.map {
                    WebhookMachine.Item(cursor: OutcomeCursor($0), byteCount: 100, settledAt: WallTime(seconds: 5))
                }
                news += [machine.take(.init(items: load, end: OutcomeCursor(last), missed: 0))].compactMap(\.self)
            case .post(let post):
                let cursors = Array(items[post.items])
                posts.append(cursors)
                let result = takes(cursors)
                if case .taken = result, !post.isProbe { told += cursors }
                let moment = Moment(monotonic: now, wall: WallTime(seconds: 1_700_000_000).advanced(by: now))
                news += [machine.answered(result, to: post, now: moment, random: 0.5)].compactMap(\.self)
            case .move: machine.moved()
            case .wait(let time):
                now += time
                machine.waited()
            }
            return true
        }

        mutating func run(steps: Int = 1000) throws {
            for _ in 0..<steps { guard try step() else { return } }
        }
    }

    private static func refuse(_ status: Int) -> PostResult { .refused(status: status, retryAfter: nil) }
    private static let taken = PostResult.taken(status: 200)

    @Test(
        "One bad outcome holds up the others for half a minute, and is passed over, told loudly",
        arguments: [400, 409, 413, 422])
    func one(_ status: Int) throws {
        var world = try World(1...100) { $0.contains(37) ? Self.refuse(status) : Self.taken }
        try world.run()
        #expect(world.told == Array(1...36) + Array(38...100))
        #expect(world.machine.figures.skipped == 1 && world.machine.figures.lastSkipped?.cursor == OutcomeCursor(37))
        #expect(world.news.contains(.skipped(1, last: OutcomeCursor(37), fault: "it answered \(status)")))
        // Each time refused by itself, the last time a moment before the next one was taken.
        #expect(
            world.posts.count { $0 == [37] }
                == LoneRefusal.tries + LoneRefusal.suspectProbes + LoneRefusal.repeats)
        #expect(world.posts.firstIndex(of: [38]) == world.posts.lastIndex(of: [37]).map { $0 + 1 })
        #expect(world.now > .seconds(15) && world.now < .seconds(60))
        #expect(world.machine.figures.failuresInARow == 0)
    }

    @Test("Bad ones in a row are all found, and none between them is lost", arguments: [1, 2, 1000]) func several(
        _ page: Int
    ) throws {
        let bad: Set<UInt64> = [10, 11, 12, 14]
        var world = try World(1...40) { bad.isDisjoint(with: $0) ? Self.taken : Self.refuse(400) }
        world.page = page
        try world.run(steps: 3000)
        #expect(world.told == (1...40).filter { !bad.contains($0) })
        #expect(world.machine.figures.skipped == 4)
    }

    @Test("A receiver that refuses everything loses nothing, however long it does", arguments: [400, 422])
    func everything(_ status: Int) throws {
        var isMended = false
        var world = try World(1...30) { _ in isMended ? Self.taken : Self.refuse(status) }
        try world.run(steps: 2000)
        #expect(world.told.isEmpty && world.machine.figures.skipped == 0 && world.machine.cursor == .start)
        isMended = true
        world.takes = { _ in Self.taken }
        try world.run()
        #expect(world.told == Array(1...30))
    }

    @Test(
        "Failures that are not about an outcome never pass over one",
        arguments: [401, 403, 404, 408, 410, 429, 500, 503])
    func neverSkipped(_ status: Int) throws {
        var world = try World(1...30) { $0.contains(3) ? Self.refuse(status) : Self.taken }
        try world.run(steps: 2000)
        #expect(world.machine.figures.skipped == 0 && world.told.allSatisfy { $0 < 3 })
    }

    @Test("A bad one with nothing behind it waits, and goes by as soon as the next one is taken") func last() throws {
        var world = try World(1...5) { $0.contains(5) ? Self.refuse(400) : Self.taken }
        try world.run(steps: 200)
        #expect(world.told == [1, 2, 3, 4] && world.machine.figures.skipped == 0)
        world.log.append(6)
        try world.run(steps: 200)
        #expect(world.told == [1, 2, 3, 4, 6] && world.machine.figures.skipped == 1)
    }

    /// Numbers that are the same in every run (SplitMix64).
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
            return bits ^ (bits >> 31)
        }
    }

    @Test("A receiver that is mended node by node loses nothing, whatever the part of the nodes", arguments: 1...9)
    func flapping(_ tenths: Int) throws {
        for seed in UInt64(1)...150 {
            var random = Seeded(state: seed &* 1000 &+ UInt64(tenths))
            var requests = 0
            var world = try World(1...24) { _ in
                requests += 1
                if requests < 12 { return Self.refuse(400) }
                return requests > 600 || Int.random(in: 0..<10, using: &random) >= tenths
                    ? Self.taken : Self.refuse(400)
            }
            try world.run(steps: 3000)
            #expect(world.told == Array(1...24), "seed \(seed)")
        }
    }

    @Test("One bad outcome is passed over also by a receiver whose other answers fail now and then") func flaky() throws
    {
        for seed in UInt64(1)...50 {
            var random = Seeded(state: seed)
            var world = try World(1...24) { cursors in
                if cursors.contains(9) { return Self.refuse(400) }
                return Int.random(in: 0..<20, using: &random) == 0 ? Self.refuse(503) : Self.taken
            }
            try world.run(steps: 3000)
            #expect(world.told == (1...24).filter { $0 != 9 }, "seed \(seed)")
            #expect(world.machine.figures.skipped == 1)
        }
    }

    @Test("The first outcome of all may be bad: a request without outcomes is its probe") func first() throws {
        var world = try World(1...3) { $0.contains(1) ? Self.refuse(400) : Self.taken }
        try world.run()
        #expect(world.told == [2, 3] && world.machine.figures.skipped == 1)
        #expect(world.posts.count { $0.isEmpty } == LoneRefusal.suspectProbes)
    }

    @Test("A receiver that calls a double a conflict has taken it") func conflict() throws {
        var seen: Set<UInt64> = []
        var world = try World(1...9) { cursors in
            if cursors.contains(5) { return Self.refuse(422) }
            guard seen.isDisjoint(with: cursors) else { return Self.refuse(409) }
            seen.formUnion(cursors)
            return Self.taken
        }
        try world.run()
        #expect(world.told == [1, 2, 3, 4, 6, 7, 8, 9])
    }

    @Test("One that is taken after all is told in its place") func mended() throws {
        var refusals = 0
        var world = try World(1...20) { cursors in
            guard cursors.contains(7), refusals < 40 else { return Self.taken }
            refusals += 1
            return refusals < 8 ? Self.refuse(400) : .notSent("away")
        }
        try world.run()
        #expect(world.told == Array(1...20) && world.machine.figures.skipped == 0)
    }
}
