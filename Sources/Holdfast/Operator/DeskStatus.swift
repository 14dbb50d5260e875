/// The lanes of a journal, and the routes of the process that uses it.
public struct DeskStatus: Hashable, Sendable {
    /// One lane of the journal.
    public struct Lane: Hashable, Sendable {
        /// The lane's route, urgency and guarantee.
        public var key: LaneKey
        /// Whether the lane runs.
        public var state: LaneState
        /// Entries without a terminal outcome, deferred and scheduled ones included.
        public var unconfirmed: Int
        /// Unconfirmed entries that wait for their due time.
        public var deferred: Int
        /// Unconfirmed entries that wait for the time from which they may be delivered.
        public var scheduled: Int
        /// Of ``deferred``: entries whose tag is paused, or was until now.
        public var heldByTag: Int
        /// Whether a route of a running engine serves it.
        public var isServed: Bool
        /// When a lane that stopped by itself sends its next probe; see ``EngineStatus/Lane/nextProbeAt``.
        public var nextProbeAt: WallTime?
        /// When the oldest entry was accepted; see ``EngineStatus/Lane/oldestAcceptedAt``.
        public var oldestAcceptedAt: WallTime?

        package init(
            key: LaneKey, state: LaneState, unconfirmed: Int, deferred: Int, scheduled: Int = 0, isServed: Bool,
            nextProbeAt: WallTime? = nil, heldByTag: Int = 0, oldestAcceptedAt: WallTime? = nil
        ) {
            self.oldestAcceptedAt = oldestAcceptedAt
            self.heldByTag = heldByTag
            self.scheduled = scheduled
            self.nextProbeAt = nextProbeAt
            self.key = key
            self.state = state
            self.unconfirmed = unconfirmed
            self.deferred = deferred
            self.isServed = isServed
        }
    }

    /// One route of the process that uses the journal.
    public struct Route: Hashable, Sendable {
        /// The route's name.
        public var name: String
        /// The service's address, for operators.
        public var endpoint: String
        /// `connected`, `connecting`, `idle`, or why there is no connection, for operators.
        public var connection: String
        /// Whether the route needs a connection and has none.
        public var isAway: Bool
        /// Entries that are with a connection, or whose settlement is not durable yet.
        public var inFlight: Int
        /// Of ``inFlight``: entries whose token the service called bad, and that are not decided yet.
        public var suspects: Int
        /// Why the route hands out nothing, for operators; `nil` if it does.
        public var holding: String?
        /// Topics that the service refuses. Their entries wait, and all others are sent.
        public var topics: [EngineStatus.Topic]
        /// The number of connections that take entries; `nil` if nobody says.
        public var connections: Int?
        /// The most connections; `nil` if nobody says.
        public var connectionLimit: Int?

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

    /// A tag whose notifications an operator has paused.
    public struct PausedTag: Hashable, Sendable {
        /// The tag, as the notifications have it.
        public var tag: [UInt8]
        /// When it was paused.
        public var since: WallTime
        /// Why, for operators; may be empty.
        public var reason: String
        /// Entries with this tag that wait for it. Those are not counted yet that wait behind others, or in a paused lane.
        public var held: Int

        package init(tag: [UInt8], since: WallTime, reason: String, held: Int) {
            (self.tag, self.since, self.reason, self.held) = (tag, since, reason, held)
        }
    }

    /// A reader of outcomes that belongs to the process, such as a webhook.
    public struct Reader: Hashable, Sendable {
        /// The reader's name.
        public var name: String
        /// Outcomes behind its cursor, of all Producers.
        public var unread: Int
        /// What keeps it from going on, for operators; `nil` if nothing does.
        public var trouble: String?
        /// Something that an operator should know and that holds up nothing, such as outcomes that the receiver refuses and
        /// that were passed over; `nil` for nothing.
        public var notice: String?

        package init(name: String, unread: Int, trouble: String?, notice: String? = nil) {
            (self.name, self.unread, self.trouble, self.notice) = (name, unread, trouble, notice)
        }
    }

    /// Every lane that the journal ever had.
    public var lanes: [Lane]
    /// The routes of the running engine; empty if none runs.
    public var routes: [Route]
    /// The paused tags, in the order in which they were paused.
    public var pausedTags: [PausedTag] = []
    /// What is wrong, the worst first: see ``EngineStatus/conditions``. `nil` if no engine runs, or its process does not say.
    public var conditions: [HealthCondition]?
    /// See ``EngineStatus/blacklistDamage``. 0 if no engine runs.
    public var blacklistDamage = 0
    /// The readers of outcomes that the process itself runs; empty if no engine runs.
    public var ownReaders: [Reader] = []
    /// Journals of lost hosts that the process delivers beside its own.
    package var takenOver: [EngineStatus.TakenOver] = []
    /// The counts of the running engine; `nil` if none runs.
    public var figures: Figures?
    /// What the journal has of ended notifications, and who reads it; `nil` if nobody says.
    public var history: OutcomeLogStatus?

    package init(lanes: [Lane], routes: [Route]) {
        self.lanes = lanes
        self.routes = routes
    }
}
