@testable import Holdfast

/// A route whose senders wait for each answer before they send the next one, its throttle, and a slow service that refuses a
/// share by chance, each entry once at most, in simulated time. So few are answered that the share changes from second to second.
struct ShareRun {
    /// An entry that was accepted, and whether it was refused before.
    private struct Entry {
        var at: Duration
        var isKnown = false
    }

    private let seconds: ClosedRange<Double>
    private let share: Int
    private(set) var throttle = RouteThrottle(policy: ThrottlePolicy(), window: 2000)
    private(set) var now = Duration.zero
    private(set) var granted = 0
    private var waiting: [Entry]
    /// With the time of the answer.
    private var inFlight: [Entry] = []
    private var servedUntil = Duration.zero
    private var random: Xoshiro256

    /// - Parameters:
    ///   - perSecond: what the service answers at most.
    ///   - share: one in so many is refused.
    init(senders: Int, perSecond: Double, share: Int, seed: UInt64) {
        seconds = 0.5 / perSecond...1.5 / perSecond
        self.share = share
        random = Xoshiro256(seed: seed)
        waiting = Array(repeating: Entry(at: .zero), count: senders)
    }

    mutating func step() {
        throttle.look(now: now)
        send()
        let next = [
            waiting.isEmpty ? nil : throttle.nextAllowance(inFlight: inFlight.count, now: now),
            inFlight.map(\.at).min(), waiting.map(\.at).filter { $0 > now }.min(),
        ]
        now = max(now + .milliseconds(1), next.compactMap { $0 }.min() ?? now + .milliseconds(100))
        // A busy machine looks late now and then.
        if Int.random(in: 0..<20, using: &random) == 0 { now += .milliseconds(Int.random(in: 0..<300, using: &random)) }
        takeAnswers()
    }

    private mutating func send() {
        var room = throttle.allowance(inFlight: inFlight.count, now: now)
        var roomForKnown = throttle.roomForKnown
        var sent = 0
        waiting = waiting.filter { entry in
            guard entry.at <= now, room > 0, !entry.isKnown || roomForKnown > 0 else { return true }
            if entry.isKnown {
                roomForKnown -= 1
                throttle.callBack(1)
            }
            room -= 1
            sent += 1
            servedUntil = max(servedUntil, now) + .seconds(Double.random(in: seconds, using: &random))
            inFlight.append(Entry(at: servedUntil + .milliseconds(30), isKnown: entry.isKnown))
            return false
        }
        throttle.take(sent, now: now)
    }

    private mutating func takeAnswers() {
        var turn = RouteThrottle.Answers()
        for entry in inFlight where entry.at <= now {
            if !entry.isKnown, Int.random(in: 0..<share, using: &random) == 0 {
                turn.throttled += 1
                turn.fresh += 1
            } else {
                turn.granted += 1
                turn.known += entry.isKnown ? 1 : 0
            }
        }
        inFlight.removeAll { $0.at <= now }
        guard !turn.isEmpty else { return }
        granted += turn.granted
        let number = Double.random(in: 0..<1, using: &random)
        let judgement = throttle.take(turn, now: now, random: { number })
        waiting += Array(repeating: Entry(at: now), count: turn.granted)
        for _ in 0..<turn.refused {
            let wait =
                switch judgement {
                case .single: Duration.milliseconds(Int.random(in: 20..<100, using: &random))
                case .service(let until): (until - now) * 1.2 + .milliseconds(20)
                }
            waiting.append(Entry(at: now + wait, isKnown: true))
        }
    }
}
