internal import ArgumentParser
internal import Holdfast
internal import HoldfastLegacyAPNs

/// A route that can be used: all its files are read, and are what they should be.
struct ReadyRoute {
    let settings: RouteSettings
    let route: Route
    /// Nil when none is to be read.
    let feedback: LegacyAPNsFeedback?

    /// The app and the push service that its feedback is of. A route of several topics has a certificate for all of them,
    /// and nobody knows which of them a tuple is about.
    var feedbackScope: BlacklistScope {
        BlacklistScope(
            topic: settings.topics?.count == 1 ? settings.topics?.first : nil,
            endpoint: route.connector.serviceIdentity)
    }

    /// - Throws: ``ToolError`` with status `configuration` that names the file or flag that is wrong.
    init(_ settings: RouteSettings) throws(ToolError) {
        self.settings = settings
        route = try settings.route()
        feedback = try Self.feedback(settings)
    }

    private init(_ settings: RouteSettings, _ route: Route) throws(ToolError) {
        (self.settings, self.route) = (settings, route)
        feedback = try Self.feedback(settings)
    }

    private static func feedback(_ settings: RouteSettings) throws(ToolError) -> LegacyAPNsFeedback? {
        try settings.feedback.map { feedback throws(ToolError) in
            try feedback.source(trust: settings.trust, certificate: settings.certificate)
        }
    }

    /// The same route on other terms, so that its connections go on; nil where its connector would be another one.
    ///
    /// - Throws: ``ToolError`` with status `configuration` that names the file that is wrong.
    func on(_ new: RouteSettings) throws(ToolError) -> ReadyRoute? {
        var terms = settings
        (terms.topics, terms.defaultTopic, terms.feedback) = (new.topics, new.defaultTopic, new.feedback)
        terms.channelsEndpoint = new.channelsEndpoint
        (terms.connections, terms.scaling, terms.rate) = (new.connections, new.scaling, new.rate)
        guard terms == new else { return nil }
        return try ReadyRoute(
            new,
            route.with(topics: new.topics, connections: new.connections, scaling: new.scaling, rate: new.rate))
    }
}

/// Which routes `send` and `recover` deliver to: those of the configuration; without any, the one that the journal
/// remembers. Flags go before both, where it is plain which route they mean.
struct RoutePlan {
    private let configured: [RouteSettings]
    private let flags: RouteOptions
    private let feedback: FeedbackSettings?

    init(_ configuration: Configuration, _ flags: RouteOptions, _ delivery: DeliveryOptions) {
        configured = configuration.routes
        self.flags = flags
        feedback = delivery.feedback.map { FeedbackSettings(endpoint: $0, interval: delivery.feedbackInterval) }
    }

    /// Whether the configuration has routes; the journal's own is then let be.
    var isConfigured: Bool { !configured.isEmpty }

    /// - Throws: a `ValidationError` for flags that are missing, contradict or mean nobody knows which route; a
    ///   ``ToolError`` that names the route and the file that is wrong.
    func routes(remembered: RouteSettings?, missingEndpoint: String) throws -> [ReadyRoute] {
        guard configured.count > 1 else {
            var route = try flags.route(
                remembered: configured.first ?? remembered, missingEndpoint: missingEndpoint)
            if let feedback { route.feedback = feedback }
            return [try ReadyRoute(route)]
        }
        if let flag = (flags.given + (feedback == nil ? [] : ["--feedback"])).first {
            throw ValidationError(
                "\(flag) does not say which of the configuration's \(configured.count) routes it is for: say it there.")
        }
        return try configured.map { settings in
            do throws(ToolError) {
                return try ReadyRoute(settings)
            } catch {
                throw ToolError(error.status, "route \(settings.name): \(error.message)")
            }
        }
    }

    /// What the journal is to remember: nil when a configuration says it.
    func toRemember(of routes: [ReadyRoute]) -> RouteSettings? {
        guard !isConfigured, var route = routes.first?.settings else { return nil }
        // Said at each call.
        route.feedback = nil
        return route
    }

    /// The topic of lines that have none: where there is one route with one topic, that.
    func defaultTopic(of routes: [ReadyRoute]) -> String? { defaultTopic(of: routes.map(\.settings)) }

    /// The same where the routes are not to be used here.
    func defaultTopic(remembered: RouteSettings?) -> String? {
        defaultTopic(of: isConfigured ? configured : remembered.map { [$0] } ?? [])
    }

    private func defaultTopic(of routes: [RouteSettings]) -> String? {
        if let topic = flags.topic { return topic }
        guard routes.count == 1, let route = routes.first else { return nil }
        if let topic = route.defaultTopic { return topic }
        return route.topics?.count == 1 ? route.topics?.first : nil
    }
}
