package import HoldfastPQ

/// Which losses an accepted notification survives, by what the database says of itself.
package struct DatabaseDurability: Hashable, Sendable {
    /// Such as 150018.
    package let serverVersion: Int
    /// Whether a commit is on the disk of the server before it is answered.
    package let isSynced: Bool
    /// Whether a page that was half written is made whole.
    package let hasFullPages: Bool
    /// The setting `synchronous_standby_names`; empty where no standby is waited for.
    package let standbys: String
    /// The setting `cluster_name`, by which a standby that is promoted says which one it is; empty where it says nothing.
    package let clusterName: String
    /// Whether the server has a standby now, of whichever kind.
    package let hasStandby: Bool

    package init(
        serverVersion: Int, isSynced: Bool, hasFullPages: Bool, standbys: String, clusterName: String = "",
        hasStandby: Bool = false
    ) {
        self.serverVersion = serverVersion
        self.isSynced = isSynced
        self.hasFullPages = hasFullPages
        self.standbys = standbys
        self.clusterName = clusterName
        self.hasStandby = hasStandby
    }

    package init(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) {
        let step = PQStep(
            """
            SELECT pg_catalog.current_setting('fsync'), pg_catalog.current_setting('full_page_writes'),
                pg_catalog.current_setting('synchronous_standby_names'), pg_catalog.current_setting('cluster_name'),
                EXISTS (SELECT FROM pg_catalog.pg_stat_replication)
            """, reading: true)
        let row = try connection.run([step], by: deadline)[0].row(0)
        self.init(
            serverVersion: connection.facts.serverVersion, isSynced: try row.text(0) == "on",
            hasFullPages: try row.text(1) == "on", standbys: try row.text(2), clusterName: try row.text(3),
            hasStandby: try row.bool(4))
    }

    /// What is survived, in one line.
    package var words: String {
        let disk =
            isSynced
            ? "what is accepted survives a crash of the database's machine"
            : "what is accepted does not survive a crash of the database's machine"
        return standbys.isEmpty
            ? "\(disk), and not the loss of its disk: no standby is waited for"
            : "\(disk), and the loss of its disk: the standbys \(standbys) are waited for"
    }

    /// Advice in whole sentences. Nothing of it is a danger now.
    package var hints: [String] {
        guard clusterName.isEmpty, hasStandby || !standbys.isEmpty else { return [] }
        return [
            "The server has standbys, and no cluster_name: after a promotion nobody knows whether the new server had all commits, so "
                + "submissions by SQL that were not delivered wait for 10 s, and may be in doubt. Give each server a cluster_name, and "
                + "name the standbys that are waited for by it in synchronous_standby_names."
        ]
    }

    /// What an operator should know, in whole sentences.
    package var warnings: [String] {
        var warnings: [String] = []
        if !isSynced {
            warnings.append(
                "The database runs with fsync off: a crash of its machine loses what was accepted, and may damage all of it. "
                    + "Set fsync to on.")
        }
        if !hasFullPages {
            warnings.append(
                "The database runs with full_page_writes off: a crash of its machine may damage it, unless its file system "
                    + "writes whole pages. Set full_page_writes to on.")
        }
        return warnings
    }
}
