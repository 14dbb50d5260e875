import Testing

@testable import Holdfast

/// Which route serves which topic in which environment.
@Suite struct TopicRoutesTests {
    private func route(_ name: String, _ topics: Set<String>?, _ environment: PushEnvironment? = nil) -> Route {
        Route(
            name: name, connector: StubConnector(.perNotification), topics: topics, environment: environment)
    }

    private func notification(
        _ topic: String, in environment: PushEnvironment? = nil, preferring preferred: PushEnvironment? = nil
    ) -> PushNotification {
        var notification = Sample.notification(1)
        notification.topic = topic
        (notification.environment, notification.preferredEnvironment) = (environment, preferred)
        return notification
    }

    private func reason(_ routes: TopicRoutes, _ notification: PushNotification) -> Reason? {
        do throws(Refusal) {
            _ = try routes.index(for: notification)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(
        "Of two routes with one topic the environment chooses, and the default where none is named",
        arguments: PushEnvironment.allCases)
    func chooses(standard: PushEnvironment) throws {
        let routes = try TopicRoutes(
            [route("p", ["a"], .production), route("s", ["a", "b"], .sandbox)], defaultEnvironment: standard)
        #expect(try routes.index(for: notification("a", in: .production)) == 0)
        #expect(try routes.index(for: notification("a", in: .sandbox)) == 1)
        #expect(try routes.index(for: notification("a")) == (standard == .production ? 0 : 1))
        #expect(try routes.index(for: notification("a", preferring: .sandbox)) == 1)
        #expect(try routes.index(for: notification("a", preferring: .production)) == 0)
        // The only route of a topic serves whoever does not insist.
        #expect(try routes.index(for: notification("b")) == 1)
        #expect(try routes.index(for: notification("b", preferring: .production)) == 1)
        #expect(reason(routes, notification("b", in: .production)) == .environmentNotServed)
        #expect(reason(routes, notification("c", in: .production)) == .topicDisallowed)
        #expect(reason(routes, notification("c")) == .topicDisallowed)
        #expect(reason(routes, notification("", in: .sandbox)) == .missingTopic)
    }

    @Test("A route without an environment serves both") func both() throws {
        let routes = try TopicRoutes([route("r", ["a"]), route("s", nil)], defaultEnvironment: .production)
        for environment in [nil, PushEnvironment.production, .sandbox] {
            #expect(try routes.index(for: notification("a", in: environment)) == 0)
            #expect(try routes.index(for: notification("z", in: environment)) == 1)
        }
    }

    @Test("A route that names its topics goes before one of the same environment that names none")
    func fallbacks() throws {
        let routes = try TopicRoutes(
            [route("p", nil, .production), route("s", nil, .sandbox), route("d", ["a"], .sandbox)],
            defaultEnvironment: .production)
        #expect(try routes.index(for: notification("z")) == 0)
        #expect(try routes.index(for: notification("z", in: .sandbox)) == 1)
        // Named in sandbox alone: without an environment it goes where it is named.
        #expect(try routes.index(for: notification("a")) == 2)
        #expect(try routes.index(for: notification("a", in: .sandbox)) == 2)
        #expect(try routes.index(for: notification("a", in: .production)) == 0)
    }

    @Test(
        "Two routes of one topic and one environment contradict each other, and the error names both",
        arguments: [
            (PushEnvironment?.none, PushEnvironment?.none), (.production, nil), (nil, .sandbox), (.sandbox, .sandbox),
        ])
    func contradict(first: PushEnvironment?, second: PushEnvironment?) throws {
        let named = #expect(throws: RouteError.self) {
            try TopicRoutes([route("one", ["a"], first), route("two", ["a"], second)], defaultEnvironment: .production)
        }
        #expect(named == .topicTwice("a", routes: ["one", "two"]))
        #expect("\(named!)".contains("\"one\" and \"two\" serve the topic \"a\""))
        let fallbacks = #expect(throws: RouteError.self) {
            try TopicRoutes([route("one", nil, first), route("two", nil, second)], defaultEnvironment: .production)
        }
        #expect(fallbacks == .twoFallbacks("two", other: "one"))
    }

    @Test("What names an environment is another notification than what names the other, or none") func identity() {
        let key = IdentityKey(first: 1, second: 2)
        let identities = [nil, PushEnvironment.production, .sandbox].map { environment in
            Identity(notification("a", in: environment), id: NotificationID(), submitter: "s", key: key)
        }
        let id = NotificationID()
        let same = [nil, PushEnvironment.production, .sandbox].map { environment in
            Identity(notification("a", in: environment), id: id, submitter: "s", key: key)
        }
        #expect(Set(identities).count == 3 && Set(same).count == 3)
        let wish = Identity(notification("a", preferring: .sandbox), id: id, submitter: "s", key: key)
        #expect(wish == same[0])
    }
}
