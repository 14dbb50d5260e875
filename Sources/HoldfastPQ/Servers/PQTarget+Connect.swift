extension PQTarget {
    /// How long other servers are looked at, where the first might do.
    private static let patienceWithOthers = Duration.seconds(2)

    /// Connects to the server that is to be used. Where the process keeps a book of the servers (``servers``), that is none that
    /// is known to be an old primary; the next one of the string is tried in its place. The first session of a process goes to
    /// the newest server of those that can be written to.
    ///
    /// - Throws: as the connection does; `unreachable` where nobody is there but an old primary.
    package func connect(
        _ session: PQSession, by deadline: ContinuousClock.Instant, _ interruption: PQInterruption
    ) throws(PQError) -> PQConnection {
        guard let servers else { return try PQConnection(self, session, by: deadline, interruption) }
        var search = ServerSearch(self, servers, isBroad: servers.isFresh && places.count > 1)
        while true {
            let limit = search.needsMore ? deadline : min(deadline, .now + Self.patienceWithOthers)
            let connection: PQConnection
            do throws(PQError) {
                connection = try PQConnection(self, session, by: limit, interruption, avoiding: search.seen)
            } catch {
                return try search.end(error)
            }
            if let found = try search.found(connection, by: limit) { return found }
        }
    }
}

/// The servers that were met while a connection is made.
private struct ServerSearch {
    private let servers: PQServers
    /// Whether all are looked at before one is taken.
    private let isBroad: Bool
    private(set) var seen: Set<PQPlace> = []
    /// Those that would do, if there is none better.
    private var usable: [(connection: PQConnection, sight: ServerSight)] = []
    private var refused: [ServerWarning] = []

    init(_ target: PQTarget, _ servers: PQServers, isBroad: Bool) {
        (self.servers, self.isBroad) = (servers, isBroad)
    }

    /// Whether none would do yet.
    var needsMore: Bool { usable.isEmpty }

    /// - Returns: the connection, if it is to be used and no other is looked for.
    mutating func found(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> PQConnection? {
        let sight: ServerSight?
        seen.insert(connection.place)
        do throws(PQError) { sight = try ServerSight(connection, by: deadline) } catch {
            connection.close()
            guard error.kind != .interrupted, !usable.isEmpty || !refused.isEmpty else {
                closeAll()
                throw error
            }
            return nil
        }
        guard let sight else {
            // A standby, or one that says nothing, is no better than one that is known.
            if usable.isEmpty, refused.isEmpty { return connection }
            connection.close()
            return nil
        }
        switch servers.judge(sight) {
        case .current where !isBroad:
            closeAll()
            servers.use(connection, sight)
            return connection
        case .current, .behind: usable.append((connection, sight))
        case .old(let newer):
            connection.close()
            refused.append(.refused(sight, newer: newer))
            servers.warn(.refused(sight, newer: newer))
        }
        return nil
    }

    /// There is no other server.
    ///
    /// - Returns: the newest of those that would do, the first of several.
    func end(_ error: PQError) throws(PQError) -> PQConnection {
        let best = usable.max { $0.sight.timeline < $1.sight.timeline }?.sight.timeline
        guard error.kind != .interrupted, let chosen = usable.first(where: { $0.sight.timeline == best }) else {
            closeAll()
            guard error.kind != .interrupted, !refused.isEmpty else { throw error }
            throw PQError(
                .unreachable, (refused.map(\.description) + [error.message]).joined(separator: "; "), cause: error.cause
            )
        }
        for other in usable where other.connection !== chosen.connection {
            other.connection.close()
            guard other.sight.system == chosen.sight.system, other.sight.timeline < chosen.sight.timeline else {
                continue
            }
            servers.warn(.refused(other.sight, newer: chosen.sight))
        }
        if case .behind(let newest) = servers.judge(chosen.sight) {
            servers.warn(.behind(chosen.sight, newest: newest))
        }
        servers.use(chosen.connection, chosen.sight)
        return chosen.connection
    }

    private func closeAll() { for other in usable { other.connection.close() } }
}
