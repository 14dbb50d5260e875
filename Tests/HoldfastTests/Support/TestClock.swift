@testable import Holdfast

/// Time that stands still until a test moves it.
final class TestClock: Sendable {
    private let state = Monitor((wall: WallTime(seconds: 1_800_000_000), monotonic: Duration.seconds(1000)))

    var wall: WallTime { state.withLock(\.wall) }
    var now: Duration { state.withLock(\.monotonic) }
    var engineClock: EngineClock { EngineClock(wall: { self.wall }, monotonic: { self.now }) }

    /// Time passes.
    func advance(by duration: Duration) {
        state.withLock { state in
            state.wall = state.wall.advanced(by: duration)
            state.monotonic += duration
        }
    }

    /// Somebody sets the clock on the wall.
    func step(by duration: Duration) { state.withLock { $0.wall = $0.wall.advanced(by: duration) } }
}
