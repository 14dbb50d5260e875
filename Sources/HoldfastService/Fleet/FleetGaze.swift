internal import Holdfast
internal import HoldfastPostgres

/// What the looks at all journals tell this host: among how many hosts rates are divided, and which owners are silent.
final class FleetGaze: Sendable {
    private struct State {
        var journals: [ListedJournal] = []
        var silence = OwnerSilence()
        var at: WallTime?
    }

    private let clock: EngineClock
    private let rates: FleetRates
    private let state = Monitor(State())

    /// - Parameter clock: that goes on while the machine sleeps.
    init(_ clock: EngineClock, _ rates: FleetRates) { (self.clock, self.rates) = (clock, rates) }

    /// All journals were looked at, of which this host has some.
    func looked(_ journals: [ListedJournal], mine: Set<Int32>) {
        let (now, wall) = (clock.monotonic(), clock.wall())
        state.withLock { state in
            state.journals = journals
            state.silence.looked(journals, at: now)
            state.at = wall
        }
        rates.looked(journals, mine: mine)
    }

    /// - Parameter trouble: why the last look has failed; nil after one that has not.
    func sightings(trouble: String?) -> FleetSightings {
        let hosts = rates.shared.hosts
        return state.withLock { state in
            var sightings = FleetSightings()
            (sightings.journals, sightings.at, sightings.trouble) = (state.journals, state.at, trouble)
            sightings.hosts = hosts
            for journal in state.journals { sightings.silence[journal.id] = state.silence.silence(of: journal.id) }
            return sightings
        }
    }
}
