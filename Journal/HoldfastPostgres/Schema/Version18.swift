extension Migration {
    /// Submissions and cancellations of applications survive a crash of the database as the commits of hosts do, also in a session whose
    /// `synchronous_commit` is less than `on`.
    static let version18 = Migration(version: 18, readableFrom: 7) { schema in
        inserting(schema, replacing: true, first: committing) + cancellingOutOfDoubt(schema, first: committing)
    }

    /// For the transaction that calls it, and never less than it has: `on` is what the hosts' own sessions have. With `off` a commit
    /// that was answered may be lost in a crash, with `local` and `remote_write` where a synchronous standby takes over.
    private static let committing = """

            PERFORM set_config('synchronous_commit', 'on', true)
                WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
        """
}
