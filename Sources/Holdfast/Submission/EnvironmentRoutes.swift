/// The routes that serve one topic, or that serve the topics which no other route names: at most one for each environment, or
/// one for both.
///
/// A pure value. Routes are given by their index.
struct EnvironmentRoutes: Sendable {
    /// The route without an environment, which serves both.
    private var both: Int?
    private var production: Int?
    private var sandbox: Int?

    /// Adds a route.
    ///
    /// - Returns: the route that serves the same environment already; then nothing is added.
    mutating func add(_ route: Int, _ environment: PushEnvironment?) -> Int? {
        if let taken = environment.map({ both ?? self[$0] }) ?? both ?? production ?? sandbox { return taken }
        switch environment {
        case nil: both = route
        case .production: production = route
        case .sandbox: sandbox = route
        }
        return nil
    }

    /// The route of exactly this environment.
    subscript(environment: PushEnvironment) -> Int? { environment == .production ? production : sandbox }

    /// The route that serves an environment.
    func serving(_ environment: PushEnvironment) -> Int? { both ?? self[environment] }

    /// The only route; of two, the one of the preferred environment.
    func preferring(_ environment: PushEnvironment) -> Int? { serving(environment) ?? self[environment.other] }
}

/// Which route serves which topic in which environment.
///
/// A route that names topics goes before one that names none. Without topics a route serves all topics that no other route
/// names; with an environment, those that no other route names in its environment.
///
/// A pure value.
package struct TopicRoutes: Sendable {
    private var byTopic: [String: EnvironmentRoutes] = [:]
    private var fallback = EnvironmentRoutes()
    private let defaultEnvironment: PushEnvironment

    /// - Parameter defaultEnvironment: see ``EngineConfiguration/defaultEnvironment``.
    /// - Throws: ``RouteError`` when routes contradict each other.
    package init(_ routes: [Route], defaultEnvironment: PushEnvironment) throws(RouteError) {
        self.defaultEnvironment = defaultEnvironment
        var names: Set<String> = []
        for (index, route) in routes.enumerated() {
            guard (1...64).contains(route.name.utf8.count) else { throw RouteError.badName(route.name) }
            guard names.insert(route.name).inserted else { throw RouteError.twice(route.name) }
            guard let topics = route.topics else {
                if let taken = fallback.add(index, route.environment) {
                    throw RouteError.twoFallbacks(route.name, other: routes[taken].name)
                }
                continue
            }
            for topic in topics.sorted() {
                guard let taken = byTopic[topic, default: EnvironmentRoutes()].add(index, route.environment) else {
                    continue
                }
                throw RouteError.topicTwice(topic, routes: [routes[taken].name, route.name])
            }
        }
    }

    /// Whether a route serves this topic by its name, not because no other does.
    func isNamed(_ topic: String) -> Bool { byTopic[topic] != nil }

    /// The index of the route that serves a topic; nil for none.
    ///
    /// - Parameters:
    ///   - environment: nil for any. Of two routes, the one of the preferred environment is chosen then.
    ///   - preferred: nil for the default.
    func index(
        of topic: String, in environment: PushEnvironment?, preferring preferred: PushEnvironment? = nil
    ) -> Int? {
        let named = byTopic[topic]
        guard let environment else { return (named ?? fallback).preferring(preferred ?? defaultEnvironment) }
        guard let named else { return fallback.serving(environment) }
        return named.serving(environment) ?? fallback[environment]
    }

    /// The index of the route that a notification goes to.
    ///
    /// - Throws: ``Refusal`` when no route serves its topic, or none in the environment that it asks for.
    package func index(for notification: borrowing PushNotification) throws(Refusal) -> Int {
        let (topic, environment) = (notification.topic, notification.environment)
        if let index = index(of: topic, in: environment, preferring: notification.preferredEnvironment) { return index }
        if topic.isEmpty { throw Refusal(.missingTopic, "the topic is empty") }
        let words = topic.prefix(255).debugDescription
        guard let environment, index(of: topic, in: nil) != nil else {
            throw Refusal(.topicDisallowed, "no route serves the topic \(words)")
        }
        throw Refusal(
            .environmentNotServed,
            "no route serves the topic \(words) in the environment \(environment.rawValue); one serves it in "
                + environment.other.rawValue)
    }
}
