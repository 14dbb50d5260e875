public import Holdfast

/// A clock that stands still until a test moves it.
///
///     let clock = ManualClock()
///     let engine = try PushEngine(journal: journal, routes: routes, clock: clock.engineClock)
///     …
///     clock.advance(by: .seconds(60))   // whatever waited for this happens now
///
/// The engine is woken by each move. What a connector measures by itself, such as the deadline of a
/// ``Holdfast/SenderConnector``, is not this clock's.
public final class ManualClock: Sendable {
    private struct State: Sendable {
        var wall: WallTime
        var monotonic = Duration.zero
        var wakes: [@Sendable () -> Void] = []
    }

    private let state: Monitor<State>

    /// - Parameter wall: the wall time it begins with. Default: 15 January 2027.
    public init(wall: WallTime = WallTime(seconds: 1_800_000_000)) { state = Monitor(State(wall: wall)) }

    /// The wall time now.
    public var wall: WallTime { state.withLock(\.wall) }
    /// The time that has passed since the clock was made.
    public var monotonic: Duration { state.withLock(\.monotonic) }

    /// This clock, for a ``Holdfast/PushEngine``.
    public var engineClock: EngineClock {
        EngineClock(
            wall: { self.wall }, monotonic: { self.monotonic },
            onMove: { wake in self.state.withLock { $0.wakes.append(wake) } })
    }

    /// Lets time pass, by both clocks.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not run backwards; to set the wall clock back use stepWall(by:)")
        move { state in
            state.monotonic += duration
            state.wall = state.wall.advanced(by: duration)
        }
    }

    /// Sets the wall clock forward or, with a negative duration, back, while no time passes.
    public func stepWall(by duration: Duration) { move { $0.wall = $0.wall.advanced(by: duration) } }

    private func move(_ change: (inout State) -> Void) {
        let wakes = state.withLock { state in
            change(&state)
            return state.wakes
        }
        for wake in wakes { wake() }
    }
}
