package import Holdfast
package import HoldfastLegacyAPNs

/// A route that can be used: all its files are read, and are what they should be.
package struct ReadyRoute {
    package let settings: RouteSettings
    package let route: Route
    /// `nil` if none is read.
    package let feedback: LegacyAPNsFeedback?

    /// The app and the push service that its feedback is of. A route of several topics has a certificate for all of them,
    /// and nobody knows which of them a tuple is about.
    package var feedbackScope: BlacklistScope {
        BlacklistScope(
            topic: settings.topics?.count == 1 ? settings.topics?.first : nil,
            endpoint: route.connector.serviceIdentity)
    }

    /// - Throws: ``UnusableRoute``, which names the file or flag that is wrong.
    package init(_ settings: RouteSettings) throws(UnusableRoute) {
        self.settings = settings
        route = try settings.route()
        feedback = try Self.feedback(settings)
    }

    private init(_ settings: RouteSettings, _ route: Route) throws(UnusableRoute) {
        (self.settings, self.route) = (settings, route)
        feedback = try Self.feedback(settings)
    }

    private static func feedback(_ settings: RouteSettings) throws(UnusableRoute) -> LegacyAPNsFeedback? {
        try settings.feedback.map { feedback throws(UnusableRoute) in
            try feedback.source(trust: settings.trust, certificate: settings.certificate)
        }
    }

    /// The same route on other terms, so that its connections go on; nil where its connector would be another one.
    ///
    /// - Throws: ``UnusableRoute``, which names the file that is wrong.
    package func on(_ new: RouteSettings) throws(UnusableRoute) -> ReadyRoute? {
        var terms = settings
        (terms.topics, terms.defaultTopic, terms.feedback) = (new.topics, new.defaultTopic, new.feedback)
        terms.channelsEndpoint = new.channelsEndpoint
        (terms.statedEnvironment, terms.triesOtherEnvironment) = (new.statedEnvironment, new.triesOtherEnvironment)
        (terms.connections, terms.scaling, terms.rate) = (new.connections, new.scaling, new.rate)
        terms.newestWins = new.newestWins
        guard terms == new else { return nil }
        return try ReadyRoute(
            new,
            route.with(
                topics: new.topics, connections: new.connectionLimit, scaling: new.scaling, rate: new.rateLimit,
                newestWins: new.newestWins, environment: new.environment,
                triesOtherEnvironment: new.triesOtherEnvironment))
    }
}

extension ReadyRoute {
    /// Reads the files of its key and certificate again, for connections from now on.
    ///
    /// - Throws: ``UnusableRoute``, which names the file that is wrong; what was in use stays in use.
    package func reloadCredentials() async throws(UnusableRoute) {
        do {
            try await route.connector.reload()
        } catch {
            throw UnusableRoute("route \(settings.name): \(error)")
        }
    }
}
