import Holdfast
import HoldfastPostgres

/// Hosts with clocks of their own, a database, and a network between them, at random, on simulated time.
///
/// Every step of a host may be late by any time: between reading its clock and sending, on the way there and back, and between
/// an answer and its machine. A call that was given up may still be carried out.
struct LeaseModel {
    /// In seconds, of a clock that nobody in the model can read.
    typealias Instant = Double

    private struct Host {
        let rate: Double
        let offset: Double
        var taker: TakerMachine
        var lease: LeaseMachine?
        var epoch: Int64 = 0

        func clock(_ time: Instant) -> Duration { .nanoseconds(Int64((offset + rate * time) * 1e9)) }
        func time(_ clock: Duration) -> Instant { (Double(clock.attoseconds) / 1e18 - offset) / rate }

        func handsOut(_ time: Instant) -> Bool {
            guard let end = lease?.handOutUntil else { return false }
            return clock(time) < end
        }
    }

    private enum Request {
        case look
        case take(Sighting)
        case beat(epoch: Int64)
        case release(epoch: Int64)
    }

    private enum Answer {
        case sighting(Sighting)
        case taken(epoch: Int64?, sentAt: Duration)
        case beaten
        case lost
        case failed
    }

    private enum Event {
        case act
        /// The number of a call that is not the host's last one is of a call that was given up.
        case arrive(Request, call: Int, sentAt: Duration)
        case answer(Answer, call: Int)
        /// The process goes on behind a call that has ended.
        case heed(Answer)
    }

    /// How often the journal was taken.
    private(set) var takeovers = 0
    /// How many calls were given up.
    private(set) var failures = 0
    /// At how many instants a host was allowed to hand out, and at how many more than one.
    private(set) var holdings = 0
    private(set) var doubles = 0
    private(set) var now: Instant = 0

    private var random: Xoshiro256
    private let times = LeaseTimes()
    private var all: [Host] = []
    private var calls: [Int]
    private var queue: [(time: Instant, host: Int, event: Event)] = []
    private var row = Sighting(epoch: 0, beats: 0, isFree: true)
    private var gone: Set<Int> = []
    private let trouble: Double

    /// - Parameter trouble: how often something is late or lost, from 0 to 1.
    init(seed: UInt64, hosts: Int, trouble: Double) {
        random = Xoshiro256(seed: seed)
        self.trouble = trouble
        calls = [Int](repeating: 0, count: hosts)
        for index in 0..<hosts {
            // The fastest is just not twice as fast as the slowest.
            let rate = Double.random(in: 0.71...1.41, using: &random)
            let offset = Double.random(in: 0...1_000_000, using: &random)
            all.append(Host(rate: rate, offset: offset, taker: TakerMachine(times)))
            queue.append((Double(index) * 0.1, index, .act))
        }
    }

    mutating func run(until end: Instant) {
        while let index = queue.indices.min(by: { queue[$0].time < queue[$1].time }), queue[index].time < end {
            let (time, host, event) = queue.remove(at: index)
            now = time
            if gone.contains(host) { continue }
            step(time, host, event)
            let owners = all.indices.count { !gone.contains($0) && all[$0].handsOut(time) }
            if owners > 0 { holdings += 1 }
            if owners > 1 { doubles += 1 }
        }
    }

    /// Ends the hosts that own something, or believe so.
    mutating func killOwners() {
        for index in all.indices where all[index].lease != nil { gone.insert(index) }
    }

    private mutating func step(_ time: Instant, _ host: Int, _ event: Event) {
        switch event {
        case .act: act(time, host)
        case .arrive(let request, let call, let sentAt):
            let answer = perform(request, sentAt)
            send(.answer(answer, call: call), time + lateness(), host)
        case .answer(let answer, let call):
            guard call == calls[host] else { return }
            // The limit of the call is none any more.
            calls[host] += 1
            send(.heed(answer), time + (chance(trouble) ? lateness() : 0), host)
        case .heed(let answer): heed(answer, time, host)
        }
    }

    /// A host begins a call.
    private mutating func act(_ time: Instant, _ host: Int) {
        calls[host] += 1
        let now = all[host].clock(time)
        let request: Request
        if var lease = all[host].lease {
            if chance(0.03) {
                lease.endOwnership()
                request = .release(epoch: all[host].epoch)
            } else {
                lease.beatSent(at: now)
                request = .beat(epoch: all[host].epoch)
            }
            all[host].lease = lease
        } else if let seen = all[host].taker.sightingToTake(at: now) {
            request = .take(seen)
        } else {
            request = .look
        }
        let call = calls[host]
        if !chance(trouble * 0.2) { send(.arrive(request, call: call, sentAt: now), time + lateness(), host) }
        // The call is given up in time, or when the process comes to it.
        let limit = all[host].time(now + times.answer) + (chance(trouble * 0.2) ? lateness() : 0)
        send(.answer(.failed, call: call), limit, host)
    }

    /// What the functions in SQL do, in one transaction.
    private mutating func perform(_ request: Request, _ sentAt: Duration) -> Answer {
        switch request {
        case .look: return .sighting(row)
        case .take(let seen):
            guard row.epoch == seen.epoch, row.beats == seen.beats else { return .taken(epoch: nil, sentAt: sentAt) }
            row = Sighting(epoch: seen.epoch + 1, beats: 0, isFree: false)
            takeovers += 1
            return .taken(epoch: row.epoch, sentAt: sentAt)
        case .beat(let epoch):
            guard row.epoch == epoch else { return .lost }
            row = Sighting(epoch: epoch, beats: row.beats + 1, isFree: false)
            return .beaten
        case .release(let epoch):
            guard row.epoch == epoch else { return .lost }
            row = Sighting(epoch: epoch + 1, beats: 0, isFree: true)
            return .lost
        }
    }

    /// A host reads what came of its call.
    private mutating func heed(_ answer: Answer, _ time: Instant, _ host: Int) {
        let now = all[host].clock(time)
        var next = now + times.retry
        switch answer {
        case .sighting(let sighting):
            all[host].taker.looked(sighting, at: now)
            let taker = all[host].taker
            next = taker.sightingToTake(at: now) == nil ? taker.nextLook(at: now) : now
        case .taken(.some(let epoch), let sentAt):
            let lease = LeaseMachine(takenBySending: sentAt, times)
            all[host].lease = lease
            all[host].epoch = epoch
            next = lease.nextBeat
        case .taken(.none, _): all[host].taker = TakerMachine(times)
        case .beaten:
            all[host].lease?.beatAnswered(at: now)
            next = all[host].lease?.nextBeat ?? now
        case .lost:
            all[host].lease?.endOwnership()
            forget(host)
        case .failed:
            failures += 1
            all[host].taker.sessionEnded()
            all[host].lease?.beatFailed(at: now)
            if all[host].lease?.handOutUntil == nil { forget(host) }
        }
        send(.act, max(time, all[host].time(next)) + (chance(trouble) ? lateness() : 0), host)
    }

    /// The next ownership is another lease.
    private mutating func forget(_ host: Int) {
        all[host].lease = nil
        all[host].taker = TakerMachine(times)
    }

    private mutating func send(_ event: Event, _ time: Instant, _ host: Int) { queue.append((time, host, event)) }

    /// Mostly little; now and then longer than every lease.
    private mutating func lateness() -> Double {
        if chance(trouble * 0.05) { return Double.random(in: 0...60, using: &random) }
        if chance(trouble) { return Double.random(in: 0...4, using: &random) }
        return Double.random(in: 0...0.05, using: &random)
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }
}
