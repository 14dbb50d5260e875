/// Whether there is any use in sending work here, and why not.
public struct Health: Sendable, Equatable {
    /// For people and machines, one for each thing that is wrong; none is ready.
    public var obstacles: [String]

    public init(obstacles: [String] = []) { self.obstacles = obstacles }

    public var isReady: Bool { obstacles.isEmpty }
}
