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

    let entries: [Entry]
    private let byTopic: [String: Int]
    private let fallback: Int?

    /// Opens the lanes of all routes.
    ///
    /// - Throws: ``JournalError`` when a lane can't be opened, ``RouteError`` when routes contradict each other, before any
    ///   lane is opened.
    init(_ routes: [Route], journal: any JournalService) throws {
        (byTopic, fallback) = try Self.check(routes)
        let keys = routes.map { route in Self.lanes(of: route.name) }
        var openings = try journal.openLanes(keys.flatMap(\.self))[...]
        entries = zip(routes, keys).map { route, keys in
            defer { openings.removeFirst(keys.count) }
            return Entry(route: route, lanes: Array(zip(keys, openings)).map { (key: $0, opening: $1) })
        }
    }

    /// A lane for each urgency and guarantee.
    private static func lanes(of route: String) -> [LaneKey] {
        Urgency.allCases.flatMap { urgency in
            Guarantee.allCases.map { LaneKey(route: route, urgency: urgency, guarantee: $0) }
        }
    }

    /// Whether a route serves this topic by its name, not because no other does.
    func isNamed(_ topic: String) -> Bool { byTopic[topic] != nil }

    private static func check(
        _ routes: [Route]
    ) throws(RouteError) -> (byTopic: [String: Int], fallback: Int?) {
        var byTopic: [String: Int] = [:]
        var fallback: Int?
        var names: Set<String> = []
        for (index, route) in routes.enumerated() {
            guard (1...64).contains(route.name.utf8.count) else { throw RouteError.badName(route.name) }
            guard names.insert(route.name).inserted else {
                throw RouteError.twice(route.name)
            }
            if let topics = route.topics {
                for topic in topics {
                    guard byTopic.updateValue(index, forKey: topic) == nil else { throw RouteError.topicTwice(topic) }
                }
            } else {
                guard fallback == nil else { throw RouteError.twoFallbacks(route.name) }
                fallback = index
            }
        }
        return (byTopic, fallback)
    }

    /// The push service that notifications of a topic go to; nil when no route serves it.
    func serviceIdentity(for topic: String) -> String? {
        (byTopic[topic] ?? fallback).map { entries[$0].route.connector.serviceIdentity }
    }

    /// The index of the route that serves `topic`.
    func route(for topic: String) throws(Refusal) -> Int {
        if let index = byTopic[topic] ?? fallback { return index }
        if topic.isEmpty { throw Refusal(.missingTopic, "the topic is empty") }
        throw Refusal(.topicDisallowed, "no route serves the topic \(topic.prefix(255).debugDescription)")
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
    /// Two routes serve this topic.
    case topicTwice(String)
    /// Two routes name no topics; this is the second one.
    case twoFallbacks(String)

    /// A message for operators.
    public var description: String {
        switch self {
        case .badName(let name): "a route's name has 1 to 64 bytes; \(name.debugDescription) has \(name.utf8.count)"
        case .twice(let name): "there are two routes named \(name.debugDescription)"
        case .topicTwice(let topic): "two routes serve the topic \(topic.debugDescription)"
        case .twoFallbacks(let name):
            "route \(name.debugDescription) is the second one without topics; one alone may serve all other topics"
        }
    }
}
