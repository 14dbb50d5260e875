/// Whether there is any use in sending work here, and why not.
public struct Health: Sendable, Equatable {
    /// For people and machines, one for each thing that is wrong; none is ready.
    public var obstacles: [String]
    /// Conditions that somebody should look at, and that keep no sender from being served; one line each.
    public var warnings: [String]

    public init(obstacles: [String] = [], warnings: [String] = []) {
        self.obstacles = obstacles
        self.warnings = warnings
    }

    public var isReady: Bool { obstacles.isEmpty }
}
