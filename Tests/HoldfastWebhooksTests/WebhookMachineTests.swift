import Holdfast
import HoldfastRequests
import Testing

@testable import HoldfastWebhooks

/// What a webhook does next, without a clock, a network or a journal.
@Suite struct WebhookMachineTests {
    typealias Machine = WebhookMachine

    private let start = Moment(monotonic: .seconds(100), wall: WallTime(seconds: 1_700_000_000))

    private func machine(batch: Int = 10, at cursor: UInt64 = 0, newest: UInt64 = 0) throws -> Machine {
        Machine(try Samples.configuration(batch: batch), at: OutcomeCursor(cursor), newest: OutcomeCursor(newest))
    }

    private func load(_ cursors: [UInt64], end: UInt64? = nil, missed: Int = 0, bytes: Int = 100) -> Machine.Load {
        Machine.Load(
            items: cursors.map { .init(cursor: OutcomeCursor($0), byteCount: bytes, settledAt: WallTime(seconds: 5)) },
            end: OutcomeCursor(end ?? cursors.last ?? 0), missed: missed)
    }

    private func post(_ machine: Machine) throws -> Machine.Post {
        guard case .post(let post) = machine.step else { throw Wrong(step: machine.step) }
        return post
    }

    private struct Wrong: Error { var step: Machine.Step }

    @discardableResult
    private func answer(
        _ machine: inout Machine, _ result: PostResult, after: Duration = .zero, random: Double = 0.5
    ) throws -> Machine.News? {
        let now = Moment(monotonic: start.monotonic + after, wall: start.wall.advanced(by: after))
        return machine.answered(result, to: try post(machine), now: now, random: random)
    }

    @Test("It reads, posts, and moves its cursor on disk, in this order") func order() throws {
        var machine = try machine()
        #expect(machine.step == .read(after: .start))
        #expect(machine.take(load([1, 2, 5], end: 9)) == nil)
        let post = try post(machine)
        #expect(post.items == 0..<3 && post.first == OutcomeCursor(1) && post.last == OutcomeCursor(5))
        #expect(post.attempt == 1 && !post.isPossibleDuplicate && post.missed == 0)
        #expect(machine.cursor == .start)
        try answer(&machine, .taken(status: 200))
        // Behind what was for others as well.
        #expect(machine.step == .move(to: OutcomeCursor(9)))
        machine.moved()
        #expect(machine.step == .read(after: OutcomeCursor(9)))
        #expect(machine.figures.delivered == 3 && machine.figures.taken == 1 && machine.figures.lastStatus == 200)
    }

    @Test(
        "Whatever else is answered, the cursor stays, and the same is posted again",
        arguments: [
            PostResult.refused(status: 500, retryAfter: nil), .refused(status: 404, retryAfter: nil),
            .refused(status: 301, retryAfter: nil), .unclear("nothing"), .notSent("nobody"),
        ])
    func failure(_ result: PostResult) throws {
        var machine = try machine()
        _ = machine.take(load([1, 2]))
        let first = try post(machine)
        #expect(try answer(&machine, result) == .failing(result.fault ?? "?"))
        #expect(machine.cursor == .start)
        guard case .wait = machine.step else { throw Wrong(step: machine.step) }
        machine.waited()
        let second = try post(machine)
        #expect(second.items == first.items && second.attempt == 2)
        #expect(second.isPossibleDuplicate == result.mayBeTaken)
        // It is said once, whatever follows.
        #expect(try answer(&machine, .notSent("nobody")) == nil)
        machine.waited()
        #expect(
            try answer(&machine, .taken(status: 204), after: .seconds(7)) == .recovered(after: .seconds(7), failures: 2)
        )
        #expect(machine.step == .move(to: OutcomeCursor(2)) && machine.figures.failingSince == nil)
    }

    @Test("A mark stays until the outcomes that may have arrived were taken, and no longer") func marks() throws {
        var machine = try machine(batch: 2)
        _ = machine.take(load([1, 2, 3]))
        try answer(&machine, .unclear("cut"))
        machine.waited()
        try answer(&machine, .refused(status: 503, retryAfter: nil))
        machine.waited()
        #expect(try post(machine).isPossibleDuplicate)
        try answer(&machine, .taken(status: 200))
        machine.moved()
        #expect(try !post(machine).isPossibleDuplicate)
        #expect(machine.figures.possibleDuplicates == 2)
    }

    @Test("After every 5xx the receiver may have the outcomes, and after a 4xx it has not")
    func clear() throws {
        for status in [500, 501, 502, 503, 504, 599] {
            var machine = try machine()
            _ = machine.take(load([1, 2]))
            try answer(&machine, .refused(status: status, retryAfter: nil))
            machine.waited()
            #expect(try post(machine).isPossibleDuplicate, "\(status)")
        }
        for status in [301, 400, 404, 408, 429] {
            #expect(!PostResult.refused(status: status, retryAfter: nil).mayBeTaken, "\(status)")
        }
    }

    @Test("The first thousand outcomes that an earlier process may have posted are marked, and nothing that came since")
    func doubt() throws {
        var machine = try machine(batch: 600, at: 10, newest: 2000)
        _ = machine.take(load(Array(11...1500)))
        for marked in [true, true, false] {
            #expect(try post(machine).isPossibleDuplicate == marked)
            try answer(&machine, .taken(status: 200))
            machine.moved()
        }
        var fresh = try self.machine(at: 10, newest: 11)
        _ = fresh.take(load([11, 12]))
        #expect(try post(fresh).isPossibleDuplicate)
        try answer(&fresh, .taken(status: 200))
        fresh.moved()
        _ = fresh.take(load([13]))
        #expect(try !post(fresh).isPossibleDuplicate)
    }

    @Test("Waits double up to their bound, and keep to Retry-After within it") func waits() throws {
        var machine = try machine()
        _ = machine.take(load([1]))
        var waits: [Duration] = []
        for _ in 0..<12 {
            try answer(&machine, .notSent("nobody"), random: 0.999_999)
            guard case .wait(let wait) = machine.step else { throw Wrong(step: machine.step) }
            waits.append(wait)
            machine.waited()
        }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(waits[0] <= .seconds(1) && waits[0] > .milliseconds(900) && waits[11] <= .seconds(300))
        #expect(waits[11] > .seconds(290))
        try answer(&machine, .refused(status: 429, retryAfter: .seconds(120)), random: 0)
        #expect(machine.step == .wait(.seconds(120)))
        machine.waited()
        try answer(&machine, .refused(status: 429, retryAfter: .seconds(86_400)), random: 0)
        #expect(machine.step == .wait(.seconds(300)))
    }

    @Test("What is called too large is halved at once, and grows again when all went well for long") func tooLarge()
        throws
    {
        var machine = try machine(batch: 8)
        _ = machine.take(load(Array(1...100)))
        #expect(try answer(&machine, .refused(status: 413, retryAfter: nil)) == .tooLarge(now: 4))
        #expect(try post(machine).items == 0..<4)
        try answer(&machine, .refused(status: 413, retryAfter: nil))
        try answer(&machine, .refused(status: 413, retryAfter: nil))
        #expect(try post(machine).items == 0..<1)
        // One alone can't be halved.
        #expect(try answer(&machine, .refused(status: 413, retryAfter: nil)) == .failing("it answered 413"))
        machine.waited()
        for cursor in UInt64(1)...20 {
            #expect(try post(machine).last == OutcomeCursor(cursor))
            try answer(&machine, .taken(status: 200))
            machine.moved()
        }
        #expect(try post(machine).items.count == 2)
    }

    @Test("A request has at most a megabyte of outcomes, but one in any case") func bytes() throws {
        var machine = try machine(batch: 10)
        _ = machine.take(load([1, 2, 3], bytes: 700_000))
        #expect(try post(machine).items == 0..<1)
        _ = machine.take(load([1, 2, 3], bytes: 500_000))
        #expect(try post(machine).items == 0..<2)
    }

    @Test("What can't be read counts as missed, and is not called deleted") func unreadable() throws {
        for (missed, unreadable, wasOff, expected) in [
            (5, 5, false, nil), (8, 3, false, .missed(5)), (3, 3, true, .wasOff), (8, 3, true, .missed(5)),
        ] as [(Int, Int, Bool, Machine.News?)] {
            var machine = try machine(at: 10)
            var load = load([], end: 30, missed: missed)
            (load.unreadable, load.wasOff) = (unreadable, wasOff)
            #expect(machine.take(load) == expected)
            #expect(try post(machine).missed == missed)
        }
    }

    @Test("A gap is told with the next outcomes, or alone, and once") func gap() throws {
        var machine = try machine(batch: 2, at: 10)
        #expect(machine.take(load([], end: 50, missed: 40)) == .missed(40))
        let alone = try post(machine)
        #expect(alone.items.isEmpty && alone.missed == 40 && alone.last == OutcomeCursor(50))
        try answer(&machine, .unclear("cut"))
        machine.waited()
        #expect(try post(machine).missed == 40)
        try answer(&machine, .taken(status: 200))
        #expect(machine.step == .move(to: OutcomeCursor(50)))
        machine.moved()
        _ = machine.take(load([61, 62, 63], missed: 10))
        #expect(try post(machine).missed == 10)
        try answer(&machine, .taken(status: 200))
        machine.moved()
        #expect(try post(machine).missed == 0)
        #expect(machine.figures.missed == 50)
    }

    @Test("That the history was off is told like a gap, once, and not forgotten when it is refused alone")
    func wasOff() throws {
        var machine = try machine(batch: 2, at: 10)
        var gap = load([11, 12, 13])
        gap.wasOff = true
        #expect(machine.take(gap) == .wasOff)
        #expect(try post(machine).wasOff && post(machine).items == 0..<2)
        try answer(&machine, .taken(status: 200))
        machine.moved()
        #expect(try !post(machine).wasOff)
        try answer(&machine, .taken(status: 200))
        machine.moved()
        gap = load([], end: 20)
        gap.wasOff = true
        _ = machine.take(gap)
        #expect(try post(machine).items.isEmpty && post(machine).wasOff)
        try answer(&machine, .refused(status: 422, retryAfter: nil))
        machine.end()
        #expect(machine.step == .read(after: OutcomeCursor(20)))
        _ = machine.take(load([21]))
        #expect(try post(machine).wasOff)
        let body = WebhookBody.bytes(
            try post(machine), id: "a-1-2", webhook: "a", timestamp: WallTime(seconds: 1), outcomes: [])
        #expect(String(decoding: body, as: UTF8.self).contains("\"missed\":0,\"was-off\":true,\"outcomes\":["))
    }

    @Test("What is for others costs no request, and is noted on disk now and then") func others() throws {
        var machine = try machine()
        _ = machine.take(load([], end: 9999))
        #expect(machine.step == .read(after: OutcomeCursor(9999)))
        _ = machine.take(load([], end: 10_000))
        #expect(machine.step == .move(to: OutcomeCursor(10_000)))
    }

    @Test("A cursor that could not be stored is stored before anything else is posted") func store() throws {
        var machine = try machine()
        _ = machine.take(load([1]))
        try answer(&machine, .taken(status: 200))
        machine.moveFailed(random: 0.5)
        guard case .wait = machine.step else { throw Wrong(step: machine.step) }
        machine.waited()
        #expect(machine.step == .move(to: OutcomeCursor(1)))
    }

    @Test("A cursor that somebody else has moved counts") func moved() throws {
        var machine = try machine(at: 5)
        machine.found(OutcomeCursor(5))
        #expect(machine.step == .read(after: OutcomeCursor(5)))
        machine.found(OutcomeCursor(2))
        #expect(machine.step == .read(after: OutcomeCursor(2)))
    }

    @Test("Passed outcomes of others are noted within seconds, and at the end") func passed() throws {
        var machine = try machine()
        _ = machine.take(load([], end: 7))
        machine.look(now: .seconds(1))
        #expect(machine.step == .read(after: OutcomeCursor(7)))
        _ = machine.take(load([], end: 8))
        machine.look(now: .seconds(5.9))
        #expect(machine.step == .read(after: OutcomeCursor(8)))
        machine.look(now: .seconds(6))
        #expect(machine.step == .move(to: OutcomeCursor(8)))
        machine.moved()
        _ = machine.take(load([], end: 9))
        machine.look(now: .seconds(100))
        #expect(machine.step == .read(after: OutcomeCursor(9)))
        machine.end()
        #expect(machine.step == .move(to: OutcomeCursor(9)))
    }

    @Test("A gap that is refused alone is told with the next outcomes, and the cursor on disk waits for that")
    func gapRefused() throws {
        var machine = try machine(at: 10)
        _ = machine.take(load([], end: 50, missed: 40))
        try answer(&machine, .refused(status: 400, retryAfter: nil))
        #expect(machine.step == .read(after: OutcomeCursor(50)))
        #expect(machine.take(load([], end: 20_000)) == nil)
        machine.look(now: .seconds(1000))
        machine.end()
        #expect(machine.step == .read(after: OutcomeCursor(20_000)))
        _ = machine.take(load([20_001]))
        #expect(try post(machine).missed == 40)
        try answer(&machine, .taken(status: 200))
        #expect(machine.step == .move(to: OutcomeCursor(20_001)) && machine.figures.missed == 40)
    }

    @Test("What says that it wants no more is asked seldom, and nothing is passed over") func gone() throws {
        var machine = try machine()
        _ = machine.take(load([1, 2]))
        let news = try answer(&machine, .refused(status: 410, retryAfter: nil), random: 0)
        guard case .failing(let words) = news else { throw Wrong(step: machine.step) }
        #expect(words.hasPrefix("it answered 410, so it wants no more"))
        #expect(machine.step == .wait(.seconds(300)))
    }
}
