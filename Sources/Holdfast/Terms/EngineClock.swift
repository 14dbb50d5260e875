internal import Foundation

/// The engine's source of time. Decisions never read a clock; the time is passed to them.
public struct EngineClock: Sendable {
    /// The wall clock, in milliseconds since 1970, as the service and the journal count.
    public var wall: @Sendable () -> WallTime
    /// The time since a fixed instant, for waiting. Never goes back.
    public var monotonic: @Sendable () -> Duration
    /// Registers a closure to call when a test moves the clock, since threads wait by the machine's clock. `nil` for a clock
    /// that runs by itself.
    public var onMove: (@Sendable (_ wake: @escaping @Sendable () -> Void) -> Void)?

    /// Creates a clock, such as one for tests.
    public init(
        wall: @escaping @Sendable () -> WallTime, monotonic: @escaping @Sendable () -> Duration,
        onMove: (@Sendable (_ wake: @escaping @Sendable () -> Void) -> Void)? = nil
    ) {
        self.wall = wall
        self.monotonic = monotonic
        self.onMove = onMove
    }

    /// Both clocks, read once.
    package func moment() -> Moment { Moment(monotonic: monotonic(), wall: wall()) }

    /// The machine's clocks.
    public static let system: EngineClock = {
        let start = ContinuousClock.now
        return EngineClock(
            wall: { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) },
            monotonic: { ContinuousClock.now - start })
    }()
}
