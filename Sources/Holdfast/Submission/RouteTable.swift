/// The routes with their lanes as the journal has opened them: where an accepted notification goes.
struct RouteTable: Sendable {
    struct Entry: Sendable {
        let route: Route
        /// By ``laneIndex(urgency:guarantee:)``; the more urgent first.
        let lanes: [(key: LaneKey, opening: LaneOpening)]

        /// By what the connector takes at the moment.
        var validator: NotificationValidator { NotificationValidator(limits: route.connector.limits) }

        /// - Parameters:
        ///   - impliedPriority: where the notification has none.
        ///   - expiration: what acceptance has given it.
        func lane(
            of notification: borrowing PushNotification, impliedPriority: Priority? = nil, expiration: Expiration
        ) -> LaneID {
            let isImmediate =
                switch notification.priority ?? impliedPriority {
                case .immediate: true
                case .considerate, .low: false
                case nil: notification.pushType != .background
                }
            let urgency: Urgency = isImmediate ? .immediate : .considerate
            // One attempt is one attempt: expiration 0 counts as at-most-once.
            let guarantee: Guarantee = expiration == .once ? .atMostOnce : notification.guarantee
            return lanes[Int(urgency.rawValue) * 2 + Int(guarantee.rawValue)].opening.id
        }
    }

    /// Where an entry can be tried whose token is bad in its environment.
    struct OtherPlace: Hashable, Sendable {
        /// Of the same urgency and guarantee.
        let lane: LaneID
        /// The push service, by its ``Connector/serviceIdentity``.
        let endpoint: String
    }

    let entries: [Entry]
    private let topics: TopicRoutes
    private let byName: [String: Int]

    /// Opens the lanes of all routes.
    ///
    /// - Parameter defaultEnvironment: see ``EngineConfiguration/defaultEnvironment``.
    /// - Throws: ``JournalError`` when a lane can't be opened, ``RouteError`` when routes contradict each other, before any
    ///   lane is opened.
    init(
        _ routes: [Route], journal: any JournalService, defaultEnvironment: PushEnvironment = .production
    ) throws {
        topics = try TopicRoutes(routes, defaultEnvironment: defaultEnvironment)
        let keys = routes.map { route in Self.lanes(of: route.name) }
        var openings = try journal.openLanes(keys.flatMap(\.self))[...]
        entries = zip(routes, keys).map { route, keys in
            defer { openings.removeFirst(keys.count) }
            return Entry(route: route, lanes: Array(zip(keys, openings)).map { (key: $0, opening: $1) })
        }
        byName = Dictionary(uniqueKeysWithValues: routes.enumerated().map { ($1.name, $0) })
    }

    /// A lane for each urgency and guarantee.
    private static func lanes(of route: String) -> [LaneKey] {
        Urgency.allCases.flatMap { urgency in
            Guarantee.allCases.map { LaneKey(route: route, urgency: urgency, guarantee: $0) }
        }
    }

    /// Whether a route serves this topic by its name, not because no other does.
    func isNamed(_ topic: String) -> Bool { topics.isNamed(topic) }

    /// The route of that name.
    func entry(of name: String) -> Entry? { byName[name].map { entries[$0] } }

    /// The push service that notifications of a topic go to which name no environment; nil when no route serves it.
    func serviceIdentity(for topic: String) -> String? {
        topics.index(of: topic, in: nil).map { entries[$0].route.connector.serviceIdentity }
    }

    /// The route that serves a notification; nil for none.
    func entry(for topic: String, in environment: PushEnvironment?, preferring preferred: PushEnvironment?) -> Entry? {
        topics.index(of: topic, in: environment, preferring: preferred).map { entries[$0] }
    }

    /// The index of the route that serves a notification.
    func route(for notification: borrowing PushNotification) throws(Refusal) -> Int {
        try topics.index(for: notification)
    }

    /// Where an entry of a lane can be tried when its token is bad; nil where its route does not try that, and where no route
    /// serves the topic in the other environment.
    func otherPlace(than lane: LaneID, of name: String, topic: String) -> OtherPlace? {
        guard let entry = entry(of: name), entry.route.triesOtherEnvironment, let environment = entry.route.environment,
            let position = entry.lanes.firstIndex(where: { $0.opening.id == lane }),
            let index = topics.index(of: topic, in: environment.other)
        else { return nil }
        let (other, endpoint) = (entries[index], entries[index].route.connector.serviceIdentity)
        guard other.route.environment == environment.other, endpoint != entry.route.connector.serviceIdentity else {
            return nil
        }
        return OtherPlace(lane: other.lanes[position].opening.id, endpoint: endpoint)
    }
}

/// How routes contradict each other.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum RouteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name has no bytes, or more than 64.
    case badName(String)
    /// Two routes have this name.
    case twice(String)
    /// These two routes serve this topic in one environment, or in any.
    case topicTwice(String, routes: [String])
    /// Two routes name no topics, and serve all others in one environment, or in any: this one is the second.
    case twoFallbacks(String, other: String)

    /// A message for operators.
    public var description: String {
        switch self {
        case .badName(let name): "a route's name has 1 to 64 bytes; \(name.debugDescription) has \(name.utf8.count)"
        case .twice(let name): "there are two routes named \(name.debugDescription)"
        case .topicTwice(let topic, let routes):
            "the routes \(routes.map(\.debugDescription).joined(separator: " and ")) serve the topic "
                + "\(topic.debugDescription): two routes may share a topic if one has the environment production and the "
                + "other sandbox"
        case .twoFallbacks(let name, let other):
            "the routes \(other.debugDescription) and \(name.debugDescription) are without topics; one alone may serve all "
                + "other topics, or one of the environment production and one of sandbox"
        }
    }
}
