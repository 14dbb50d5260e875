internal import Holdfast
internal import HoldfastPostgres

/// Decides when a host gives up to open a journal that it has taken over. It has no clock.
///
/// The lease may be renewed all the while, over a session that lives. A journal that is kept so is delivered by nobody, although
/// another host may get the sessions that this one does not.
struct OpeningPatience: Sendable {
    /// How long the database may refuse what an opening needs.
    static let limit = Duration.seconds(30)
    /// Between two troubles that count as one: a call may be refused again and again over connections that are made.
    static let memory = Duration.seconds(5)

    private var since = Duration.zero
    private var last: Duration?

    /// - Parameter trouble: what the database refuses now; nil for nothing.
    /// - Returns: whether the journal is to be given back. Locks, full disks and standbys hold up all hosts, and are waited for.
    mutating func look(_ trouble: DatabaseTrouble?, at now: Duration) -> Bool {
        guard let trouble, [.away, .crowded, .refusing].contains(trouble.kind) else { return false }
        if last.map({ now - $0 > Self.memory }) ?? true { since = now }
        last = now
        return now - since >= Self.limit
    }
}

/// The opening of a journal that was taken over. From any thread.
final class TakeoverOpening: Sendable {
    private struct State {
        var trouble: DatabaseTrouble?
        var patience = OpeningPatience()
        var givenUp: DatabaseTrouble?
    }

    let stop: OpeningStop
    private let journal: String
    private let clock: EngineClock
    private let state = Monitor(State())

    init(_ journal: String, _ stop: OpeningStop, clock: EngineClock) {
        (self.journal, self.stop, self.clock) = (journal, stop, clock)
    }

    func tell(_ news: HostNews) {
        switch news {
        case .away(let trouble): state.withLock { $0.trouble = trouble }
        case .waiting, .goesOn: state.withLock { $0.trouble = nil }
        case .restored, .setAside, .inDoubt, .ordersLost: break
        }
    }

    /// The trouble of the opening now; nil for none.
    var trouble: FleetTrouble? { cause.map { FleetTrouble(.openings, $0.words).of(journal) } }

    /// Why the journal is given back; nil while it is not.
    var givenUp: DatabaseTrouble? { state.withLock(\.givenUp) }

    /// Looks again and again, and stops the opening when it is given up. Ends when the task is cancelled.
    func watch() async throws {
        while !givesUp { try await Task.sleep(for: .seconds(1)) }
        stop.stop()
    }

    private var givesUp: Bool {
        let (cause, now) = (cause, clock.monotonic())
        return state.withLock { state in
            guard state.patience.look(cause, at: now) else { return false }
            state.givenUp = cause
            return true
        }
    }

    /// From the news of the opening, or from the gate of the journal, whose troubles are in no news before it is open.
    private var cause: DatabaseTrouble? { state.withLock(\.trouble) ?? stop.trouble }
}
