/// A gateway's questions about topics before it submits.
extension Producer {
    /// The topic of a notification that names none: the only one, if all routes serve one topic.
    package var onlyTopic: String? {
        let routes = shared.withLock(\.terms.routes)
        guard let topics = routes.entries.first?.route.topics, topics.count == 1,
            routes.entries.allSatisfy({ $0.route.topics == topics })
        else { return nil }
        return topics.first
    }

    /// Whether a route serves this topic by its name, not because no other does.
    package func isNamed(topic: String) -> Bool {
        shared.withLock(\.terms.routes).isNamed(topic)
    }

    /// The route that serves a notification: its environment, and whether it names the topic. Nil for none.
    package func serving(
        topic: String, in environment: PushEnvironment?, preferring preferred: PushEnvironment?
    ) -> (environment: PushEnvironment?, isNamed: Bool)? {
        let routes = shared.withLock(\.terms.routes)
        let entry = routes.entry(for: topic, in: environment, preferring: preferred)
        return entry.map { ($0.route.environment, $0.route.topics != nil) }
    }
}
