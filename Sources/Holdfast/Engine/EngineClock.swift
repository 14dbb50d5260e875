internal import Foundation

/// Where the engine's time comes from. Decisions never read a clock; they are told.
public struct EngineClock: Sendable {
    /// Milliseconds since 1970, as the service and the journal count.
    public var wall: @Sendable () -> WallTime
    /// Time since some fixed instant, for waiting. Never steps back.
    public var monotonic: @Sendable () -> Duration

    public init(wall: @escaping @Sendable () -> WallTime, monotonic: @escaping @Sendable () -> Duration) {
        self.wall = wall
        self.monotonic = monotonic
    }

    /// The machine's clocks.
    public static let system: EngineClock = {
        let start = ContinuousClock.now
        return EngineClock(
            wall: { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) },
            monotonic: { ContinuousClock.now - start })
    }()
}
