internal import ArgumentParser
internal import Holdfast
internal import HoldfastLegacyAPNs
internal import HoldfastService

/// Which routes `send` and `recover` deliver to: those of the configuration; without any, the one that the journal
/// remembers. Flags go before both, where it is plain which route they mean.
struct RoutePlan {
    private let configured: [RouteSettings]
    private let flags: RouteOptions
    private let feedback: FeedbackSettings?

    init(_ configuration: HoldfastConfiguration, _ flags: RouteOptions, _ delivery: DeliveryOptions) {
        configured = configuration.routes
        self.flags = flags
        feedback = delivery.feedback.map { FeedbackSettings(endpoint: $0, interval: delivery.feedbackInterval) }
    }

    /// Whether the configuration has routes; the journal's own is then let be.
    var isConfigured: Bool { !configured.isEmpty }

    /// - Throws: a `ValidationError` for flags that are missing, contradict or mean nobody knows which route; an
    ///   ``UnusableRoute`` or ``ToolError`` that names the route and the file that is wrong.
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
            do throws(UnusableRoute) {
                return try ReadyRoute(settings)
            } catch {
                throw ToolError(.configuration, "route \(settings.name): \(error.message)")
            }
        }
    }

    /// The route for the journal to remember; `nil` if a configuration has the routes.
    func toRemember(of routes: [ReadyRoute]) -> RouteSettings? {
        guard !isConfigured, var route = routes.first?.settings else { return nil }
        // Said at each call.
        route.feedback = nil
        return route
    }

    /// The values of lines that do not give them: where there is one route to a service, with one topic, that.
    func defaults(of routes: [ReadyRoute], _ environment: PushEnvironment?) -> LineDefaults {
        defaults(of: routes.map(\.settings), environment)
    }

    /// The same where the routes are not to be used here.
    func defaults(remembered: RouteSettings?, _ environment: PushEnvironment?) -> LineDefaults {
        defaults(of: isConfigured ? configured : remembered.map { [$0] } ?? [], environment)
    }

    private func defaults(of routes: [RouteSettings], _ environment: PushEnvironment?) -> LineDefaults {
        LineDefaults(
            topic: flags.topic ?? Self.topic(of: routes.filter { $0.service == .apns }),
            project: flags.firebaseOptions.project ?? Self.topic(of: routes.filter { $0.service == .fcm }),
            environment: environment)
    }

    private static func topic(of routes: [RouteSettings]) -> String? {
        guard routes.count == 1, let route = routes.first else { return nil }
        if let topic = route.defaultTopic { return topic }
        return route.topics?.count == 1 ? route.topics?.first : nil
    }
}
