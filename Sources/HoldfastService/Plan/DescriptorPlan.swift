internal import HoldfastControl
package import HoldfastGateway

/// The descriptors that a service may use, of those that its process may have open.
///
/// Delivery, operators and files come first: the listeners for senders share the rest, so that no number of clients keeps
/// a notification from going out, a probe from being answered or a key from being read.
struct DescriptorPlan: Sendable {
    /// The journal's files, event loops, standard streams, and files that are read anew: 33 were counted of a service at
    /// rest with three listeners (`ls /proc/PID/fd`). The rest is for what reads them beside it.
    static let base = 64
    /// Of one route: connections of its connector are made before the old ones are gone, over several addresses at a time.
    static func route(connections: Int) -> Int { 4 + 3 * connections }

    /// Descriptors for delivery, files and the control socket, whatever the limit.
    private let essential: Int
    /// Connections that the admin page may have by its configuration; nil without one.
    private let admin: Int?
    /// The sum of each listener's own limits, by name.
    var listeners: [(name: String, connections: Int)]

    init(_ configuration: HoldfastConfiguration) {
        let routes = configuration.routes.reduce(0) { $0 + Self.route(connections: $1.connectionLimit ?? 2) }
        // A webhook's old connection closes while the new one is made.
        let webhooks = 2 * configuration.webhooks.count
        essential = Self.base + routes + webhooks + ControlSocket.Configuration().descriptors
        admin = configuration.admin.listen.map { _ in configuration.admin.connections }
        listeners = configuration.gateway.listeners.map { ($0.name, $0.listener.limits.connections) }
    }

    /// Descriptors kept back for delivery, operators and files where there are enough.
    var kept: Int { essential + (admin.map { $0 + 1 } ?? 0) }

    var wanted: Int { listeners.reduce(kept) { $0 + $1.connections } }

    /// How many connections the admin page may have: no more than a quarter of what is not essential, or those that are idle
    /// there would take what probes, reloads and delivery need; four in any case.
    func adminConnections(within limit: Int) -> Int { min(admin ?? 0, max((limit - essential) / 4, 4)) }

    /// Descriptors kept back where the process may have `limit`.
    func kept(within limit: Int) -> Int { essential + (admin == nil ? 0 : adminConnections(within: limit) + 1) }

    /// How many connections the listeners may have together; some in any case, or nobody would be served.
    func room(within limit: Int) -> Int { max(limit - kept(within: limit), listeners.isEmpty ? 0 : 8) }

    /// The warning for a configuration that asks for more than there is.
    func warning(within limit: Int) -> String? {
        guard wanted > limit else { return nil }
        var bounds = listeners.map { "gateway.\($0.name).connections is \($0.connections)" }
        var shares = listeners.isEmpty ? [] : ["together the listeners get \(room(within: limit))"]
        let page = adminConnections(within: limit)
        if let admin, page < admin {
            bounds.append("admin.connections is \(admin)")
            shares.append("the admin page gets \(page)")
        }
        let kept = kept(within: limit)
        return "this process may have \(limit) files and connections open, and the configuration may take \(wanted) "
            + "(\((bounds + ["\(kept) are kept for delivery, operators and files"]).joined(separator: "; "))): "
            + "\(shares.joined(separator: ", and ")). Raise the hard limit (`LimitNOFILE=` of a systemd unit, `ulimit -Hn` of a shell), or "
            + "lower the `connections`"
    }
}

extension HoldfastConfiguration {
    /// The gateway's configuration, limited by the descriptors of this process.
    ///
    /// - Parameter addresses: see ``GatewaySettings/configuration(routes:at:)``.
    func gatewayConfiguration(at addresses: [String: ListenAddress]) -> GatewayConfiguration {
        var gateway = gateway.configuration(routes: routes, at: addresses)
        gateway.logInterval = log.interval
        if let limit = DescriptorLimit.current { gateway.connections = DescriptorPlan(self).room(within: limit.soft) }
        return gateway
    }

    private var outdatedLists: [String] {
        gateway.listeners.flatMap { name, listener in
            do throws(GatewayError) {
                return try (listener.tls?.warnings() ?? []).map { "listener \(name): \($0)" }
            } catch {
                // A mistake, which is told as one.
                return []
            }
        }
    }

    /// The addresses that a service listens on, by the names of their listeners.
    package var listenAddresses: [(name: String, address: ListenAddress)] {
        gateway.listeners.map { ($0.name, $0.listener.listen) } + (admin.listen.map { [("admin", $0)] } ?? [])
    }

    /// Warnings for people: keys, passphrases and a journal that others of this machine may read.
    package var openedSecrets: [String] { OpenedSecrets(self).warnings }

    /// Descriptors that a service with this configuration may use: for delivery, files, operators and all senders.
    package var descriptorsWanted: Int { DescriptorPlan(self).wanted }

    /// The warning for a process that may have no more descriptors than `limit`; nil where that is enough.
    package func descriptorWarning(within limit: Int?) -> String? {
        limit.flatMap { DescriptorPlan(self).warning(within: $0) }
    }

    /// Warnings for people: settings that hold in another way than they are written, or are not safe.
    ///
    /// - Parameter limit: how many files and connections the process may have open; nil where nobody knows.
    package func warnings(within limit: Int?) -> [String] {
        openedSecrets + routes.compactMap(\.credentialsWarning) + outdatedLists
            + [descriptorWarning(within: limit)].compactMap(\.self)
    }
}
