internal import Holdfast
internal import HoldfastGateway

/// What another configuration means for a service that runs: what it takes up, what waits for a restart, and which routes
/// are what they were. Decides, and does nothing.
struct ServiceReload: Sendable {
    /// What holds from now on: the new configuration, with what can't be changed as it was.
    let configuration: Configuration
    /// In the order of the configuration; those that are what they were are the very same.
    let routes: [ReadyRoute]
    /// What was changed and waits for a restart, for people.
    let needsRestart: [String]
    /// Names of the routes that are new, other than they were, or gone.
    let changedRoutes: [String]

    /// - Throws: ``ToolError`` that names the file that is wrong.
    init(from old: Configuration, _ oldRoutes: [ReadyRoute], to new: Configuration) throws(ToolError) {
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
        var changed: [String] = []
        for settings in new.routes {
            if let same = known[settings.name], same.settings == settings {
                routes.append(same)
            } else {
                routes.append(try ReadyRoute(settings))
                changed.append(settings.name)
            }
        }
        changed += known.keys.filter { name in !new.routes.contains { $0.name == name } }
        configuration = next
        self.routes = routes
        needsRestart = restart
        changedRoutes = changed.sorted()
    }

    private static var listeners: [(String, WritableKeyPath<GatewaySettings, GatewaySettings.Listener?>)] {
        [("http2", \.http2), ("binary", \.binary), ("feedback", \.feedback)]
    }
}
