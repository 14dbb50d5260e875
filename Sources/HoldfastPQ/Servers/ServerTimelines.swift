/// Decides whether a server is an old primary: one that can be written to, while another of its cluster was promoted. It has no
/// clock and no connection.
package struct ServerTimelines: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// Nothing is known of a newer timeline.
        case current
        /// A session lives with a server of a newer timeline.
        case old(ServerSight)
        /// A newer timeline was seen before, and nobody is known to be on it now: so it is after a restore, too.
        case behind(UInt32)
    }

    /// The newest timeline that was ever seen of each cluster.
    package private(set) var newest: [String: UInt32]
    private var warnings: [String: ServerWarning] = [:]

    package init(newest: [String: UInt32] = [:]) { self.newest = newest }

    /// What is wrong with servers now, each once, by their places.
    package var found: [ServerWarning] { warnings.sorted { $0.key < $1.key }.map(\.value) }

    /// - Parameter living: the servers with which sessions live now.
    package func judge(_ sight: ServerSight, living: [ServerSight]) -> Verdict {
        let others = living.filter { $0.system == sight.system && $0.timeline > sight.timeline }
        if let other = others.max(by: { $0.timeline < $1.timeline }) { return .old(other) }
        // What is used already was decided before, and told.
        let isUsed = living.contains { $0.system == sight.system && $0.timeline == sight.timeline }
        guard !isUsed, let known = newest[sight.system], known > sight.timeline else { return .current }
        return .behind(known)
    }

    /// A session with this server is used.
    ///
    /// - Returns: whether its timeline is the newest that was ever seen, and was not known.
    package mutating func used(_ sight: ServerSight) -> Bool {
        if let known = newest[sight.system], known >= sight.timeline {
            if known == sight.timeline { warnings[sight.place] = nil }
            return false
        }
        warnings[sight.place] = nil
        newest[sight.system] = sight.timeline
        return true
    }

    /// - Returns: whether that is news.
    package mutating func warn(_ warning: ServerWarning) -> Bool {
        warnings.updateValue(warning, forKey: warning.server.place) != warning
    }

    /// A server can't be written to now, or not be reached.
    ///
    /// - Parameter place: perhaps without the address that a name had.
    package mutating func gone(_ place: String) {
        warnings = warnings.filter { $0.key != place && !$0.key.hasPrefix("\(place) (") }
    }
}

/// Something that is wrong with a server of a connection string.
package enum ServerWarning: Hashable, Sendable, CustomStringConvertible {
    /// It is an old primary, and its sessions are refused.
    case refused(ServerSight, newer: ServerSight)
    /// It is used, although a newer timeline was seen before.
    case behind(ServerSight, newest: UInt32)
    /// It can be written to, and was promoted, while another server of its cluster is used.
    case ahead(ServerSight, used: ServerSight)

    package var server: ServerSight {
        switch self {
        case .refused(let server, _), .behind(let server, _), .ahead(let server, _): server
        }
    }

    /// What is wrong, and what to do.
    package var description: String { "\(what). \(next.prefix(1).uppercased())\(next.dropFirst())" }

    package var what: String {
        switch self {
        case .refused(let old, let newer):
            "\(old.place) is an old primary: it can be written to on timeline \(old.timeline), while \(newer.place), which is used "
                + "here, was promoted and is on timeline \(newer.timeline). Nothing is sent to the old one from here"
        case .behind(let server, let newest):
            "\(server.place) is used on timeline \(server.timeline), and timeline \(newest) of its cluster was seen before: it may be "
                + "an old primary that came back"
        case .ahead(let newer, let used):
            "two servers of one cluster can be written to: \(used.place), which is used here, on timeline \(used.timeline), and "
                + "\(newer.place), which was promoted, on timeline \(newer.timeline)"
        }
    }

    package var next: String {
        switch self {
        case .refused:
            "stop it now, and make it a standby of the other by pg_rewind or a new base backup, before anybody else writes to it"
        case .behind:
            "if it is, stop it, and start the server that was promoted. If an older backup was restored on purpose, stop this "
                + "service, remove the file `server.timelines` of its journal.path, and start it again"
        case .ahead:
            "stop the one that is not to be the primary, which is the older one unless the promotion was a mistake, and make it a "
                + "standby of the other by pg_rewind or a new base backup"
        }
    }
}
