internal import Holdfast
internal import HoldfastGateway

/// What another configuration means for a service that runs: what it takes up, what waits for a restart, and which routes
/// are what they were. Decides, and does nothing.
struct ServiceReload: Sendable {
    /// What holds from now on: the new configuration, with what can't be changed as it was.
    let configuration: HoldfastConfiguration
    /// In the order of the configuration. Those that have the connector that they had are known by it, whatever their terms.
    let routes: [ReadyRoute]
    /// Of them, those that go on with the connector that they had: its files may hold something else now.
    let kept: [ReadyRoute]
    /// What was changed and waits for a restart, for people.
    let needsRestart: [String]

    /// - Throws: ``UnusableRoute``, which names the file that is wrong.
    init(from old: HoldfastConfiguration, _ oldRoutes: [ReadyRoute], to new: HoldfastConfiguration)
        throws(UnusableRoute)
    {
        var next = new
        var restart: [String] = []
        if new.journal != old.journal {
            restart.append("journal")
            next.journal = old.journal
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
        needsRestart = restart
    }

    private static var listeners: [(String, WritableKeyPath<GatewaySettings, GatewaySettings.Listener?>)] {
        [("http2", \.http2), ("binary", \.binary), ("feedback", \.feedback)]
    }
}
