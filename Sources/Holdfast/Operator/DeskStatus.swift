/// The lanes of a journal, and the routes of the process that uses it.
public struct DeskStatus: Hashable, Sendable {
    public struct Lane: Hashable, Sendable {
        public var key: LaneKey
        public var state: LaneState
        /// Deferred entries included.
        public var unconfirmed: Int
        public var deferred: Int
        /// Whether a route of the living process serves it. At rest no lane is served.
        public var isServed: Bool
        /// When a lane that stopped by itself tries an entry next; see ``EngineStatus/Lane/nextProbeAt``.
        public var nextProbeAt: WallTime?

        package init(
            key: LaneKey, state: LaneState, unconfirmed: Int, deferred: Int, isServed: Bool,
            nextProbeAt: WallTime? = nil
        ) {
            self.nextProbeAt = nextProbeAt
            self.key = key
            self.state = state
            self.unconfirmed = unconfirmed
            self.deferred = deferred
            self.isServed = isServed
        }
    }

    public struct Route: Hashable, Sendable {
        public var name: String
        /// Where its connector sends, for people.
        public var endpoint: String
        /// For people: `connected`, `connecting`, `idle`, or why there is no connection.
        public var connection: String
        /// Whether a connection is there, or is not needed: false while it is away.
        public var isAway: Bool
        public var inFlight: Int
        /// Of them, called bad and not judged yet.
        public var suspects: Int
        /// Why it hands out nothing for the moment; nil when it does.
        public var holding: String?
        /// Topics that the service refuses; their entries wait, and all others go.
        public var topics: [EngineStatus.Topic]

        package init(
            name: String, endpoint: String, connection: String, isAway: Bool, inFlight: Int, suspects: Int,
            holding: String?, topics: [EngineStatus.Topic] = []
        ) {
            self.topics = topics
            self.name = name
            self.endpoint = endpoint
            self.connection = connection
            self.isAway = isAway
            self.inFlight = inFlight
            self.suspects = suspects
            self.holding = holding
        }
    }

    /// Every lane that the journal ever had.
    public var lanes: [Lane]
    /// Empty at rest.
    public var routes: [Route]
    /// See ``EngineStatus/blacklistDamage``. 0 at rest.
    public var blacklistDamage = 0

    package init(lanes: [Lane], routes: [Route]) {
        self.lanes = lanes
        self.routes = routes
    }
}
