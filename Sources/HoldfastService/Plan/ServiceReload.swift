internal import Holdfast
internal import HoldfastGateway
internal import HoldfastWebhooks

/// The effect of a new configuration on a running service: the settings that it takes up, those that wait for a restart, and
/// the routes that stay the same. Decides, and does nothing.
struct ServiceReload: Sendable {
    /// The configuration that holds from now on: the new one, except for settings that can't be changed.
    let configuration: HoldfastConfiguration
    /// The routes in the order of the configuration. One that keeps its connector is known by it, even if its terms changed.
    let routes: [ReadyRoute]
    /// Of them, those that go on with the connector that they had: its files may hold something else now.
    let kept: [ReadyRoute]
    /// The webhooks, with their files read.
    let webhooks: [WebhookConfiguration]
    /// Changes that wait for a restart, for people.
    let needsRestart: [String]

    /// - Throws: ``UnusableRoute``, which names the file that is wrong; or ``UnusableWebhook``.
    init(from old: HoldfastConfiguration, _ oldRoutes: [ReadyRoute], to new: HoldfastConfiguration)
        throws
    {
        var next = new
        var restart: [String] = []
        if new.journal.forLife != old.journal.forLife {
            restart.append("journal")
            next.journal = old.journal
            next.journal.history = new.journal.history
        }
        if new.traces != old.traces {
            restart.append("traces")
            next.traces = old.traces
        }
        if new.admin != old.admin {
            restart.append("admin")
            next.admin = old.admin
        }
        for (name, path) in Self.listeners
        where new.gateway[keyPath: path]?.listen != old.gateway[keyPath: path]?.listen
            || (new.gateway[keyPath: path]?.tls == nil) != (old.gateway[keyPath: path]?.tls == nil)
        {
            restart.append("gateway.\(name).listen")
            next.gateway[keyPath: path] = old.gateway[keyPath: path]
        }
        let known = Dictionary(oldRoutes.map { ($0.settings.name, $0) }) { first, _ in first }
        var routes: [ReadyRoute] = []
        var kept: [ReadyRoute] = []
        for settings in new.routes {
            if let same = known[settings.name], same.settings == settings {
                kept.append(same)
                routes.append(same)
            } else if let same = try known[settings.name]?.on(settings) {
                kept.append(same)
                routes.append(same)
            } else {
                routes.append(try ReadyRoute(settings))
            }
        }
        configuration = next
        (self.routes, self.kept) = (routes, kept)
        webhooks = try new.webhooks.map { try ReadyWebhook($0).configuration }
        needsRestart = restart
    }

    private static var listeners: [(String, WritableKeyPath<GatewaySettings, GatewaySettings.Listener?>)] {
        [("http2", \.http2), ("binary", \.binary), ("feedback", \.feedback)]
    }
}
