internal import Foundation

/// Where the engine's time comes from. Decisions never read a clock; they are told.
public struct EngineClock: Sendable {
    /// Milliseconds since 1970, as the service and the journal count.
    public var wall: @Sendable () -> WallTime
    /// Time since some fixed instant, for waiting. Never steps back.
    public var monotonic: @Sendable () -> Duration
    /// Registers what is to be called whenever the clock was moved by hand, since whoever waits for one of its times waits
    /// by the machine's clock. Nil for a clock that runs by itself.
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
