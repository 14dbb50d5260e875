internal import Holdfast

/// A host that watches another one's journal, and takes it when the owner's beats have stood still: by its own clock, which
/// runs at another rate and shows another time than the owner's.
struct SimulatedTaker {
    /// A call to the store that is under way.
    private enum Call {
        case look
        case take(Sighting)
    }

    /// What came of the calls that were carried out by now.
    enum Word {
        case nothing
        case taken
    }

    private let rate: Double
    private let ahead: Duration
    private let greatestDelay: Duration
    private var machine: TakerMachine
    private var call: (Call, carriedOutAt: Duration)?
    private var answer: (Sighting, comesAt: Duration)?
    private var nextLook: Duration

    /// - Parameter now: the world's time.
    init(_ times: LeaseTimes, at now: Duration, _ dice: inout Dice) {
        // Hosts may differ by almost the factor of two.
        rate = 0.52 + dice.unit() * 1.45
        ahead = .seconds(dice.number(0...200_000))
        greatestDelay = times.answer
        machine = TakerMachine(times)
        nextLook = now + .milliseconds(dice.number(0...Int(times.beat.wholeMilliseconds)))
    }

    /// Its own clock.
    private func clock(_ now: Duration) -> Duration { now * rate + ahead }

    /// The next time at which anything happens.
    var nextDue: Duration { [call?.carriedOutAt, answer?.comesAt].compactMap { $0 }.min() ?? nextLook }

    /// - Parameter store: what a look shows now.
    mutating func step(at now: Duration, store: Sighting, _ dice: inout Dice) -> Word {
        if let (call, at) = call, at <= now {
            self.call = nil
            switch call {
            case .look: answer = (store, now + delay(&dice))
            // The database compares: a beat in between, and nothing is taken.
            case .take(let seen) where seen == store: return .taken
            case .take: nextLook = now
            }
        }
        if let (sighting, at) = answer, at <= now {
            answer = nil
            machine.looked(sighting, at: clock(now))
            nextLook = now + (machine.nextLook(at: clock(now)) - clock(now)) / rate
        }
        guard call == nil, answer == nil else { return .nothing }
        if let seen = machine.sightingToTake(at: clock(now)) {
            call = (.take(seen), now + delay(&dice))
        } else if nextLook <= now {
            call = (.look, now + delay(&dice))
        }
        return .nothing
    }

    private func delay(_ dice: inout Dice) -> Duration {
        .milliseconds(dice.steep(0...Int(greatestDelay.wholeMilliseconds)))
    }
}
