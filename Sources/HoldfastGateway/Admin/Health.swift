/// The readiness of a service, and the obstacles to it.
public struct Health: Sendable, Equatable {
    /// The reasons why no sender is served, one line each, for people and machines. None means ready.
    public var obstacles: [String]
    /// Conditions that an operator should look at, and that keep no sender from being served; one line each.
    public var warnings: [String]

    /// Creates a state of health; without obstacles it is ready.
    public init(obstacles: [String] = [], warnings: [String] = []) {
        self.obstacles = obstacles
        self.warnings = warnings
    }

    /// Whether senders are served: there is no obstacle.
    public var isReady: Bool { obstacles.isEmpty }
}
