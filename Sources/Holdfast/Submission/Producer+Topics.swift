/// A gateway's questions about topics before it submits.
extension Producer {
    /// The topic of a notification that names none: the only one, if one route serves one topic.
    package var onlyTopic: String? {
        let routes = shared.withLock(\.terms.routes)
        guard routes.entries.count == 1, let topics = routes.entries[0].route.topics, topics.count == 1 else {
            return nil
        }
        return topics.first
    }

    /// Whether a route serves this topic by its name, not because no other does.
    package func isNamed(topic: String) -> Bool {
        shared.withLock(\.terms.routes).isNamed(topic)
    }
}
