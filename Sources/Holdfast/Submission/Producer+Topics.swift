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

    /// The refusal that a notification would get if it were submitted now; nil where it would be accepted. Writes nothing, and
    /// does not look whether the journal has room.
    package func refusal(of notification: PushNotification) -> Refusal? {
        let (refusal, terms) = shared.withLock { ($0.end ?? $0.blacklistFailure, $0.terms) }
        if let refusal { return refusal }
        let now = clock.wall()
        do throws(Refusal) {
            let entry = terms.routes.entries[try terms.routes.route(for: notification)]
            try entry.validator.validate(notification, now: earliest(now))
            guard blacklist.count > 0 else { return nil }
            do throws(JournalError) {
                let forbidding = TokenBlacklist.forbidding(
                    try blacklist.entries(for: notification.recipient), topic: notification.topic,
                    endpoint: entry.route.connector.serviceIdentity, registeredAt: notification.tokenRegisteredAt,
                    now: now)
                return forbidding.map { Refusal(blacklisted: $0) }
            } catch {
                return Refusal(.journalFailed, "the blacklist could not be read: \(error)")
            }
        } catch {
            return error
        }
    }
}

extension Refusal {
    /// - Parameter entry: forbids the notification.
    init(blacklisted entry: BlacklistEntry) {
        self.init(
            .blacklisted,
            "the \(entry.recipient.noun) is blacklisted (\(entry.reason)) since \(Timestamp.format(entry.since))",
            blacklistEntry: entry)
    }
}
