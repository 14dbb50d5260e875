/// How a session is set up, beyond what the connection string says.
package struct PQSession: Sendable {
    /// The name in `pg_stat_activity`, unless the string gives another.
    package var applicationName: String
    /// After which the server gives a statement up. Zero, the default, leaves that to the deadlines of calls. It never ends a
    /// commit.
    package var statementTimeout: Duration
    /// Further settings by their names, which win over those here. One that the server does not know is refused.
    package var settings: [String: String]

    /// How long is looked, over another connection, for the reason why a call has no answer at its deadline: such a call ends that
    /// much later. Zero, the default, for not at all.
    package var lockPatience: Duration

    package init(
        applicationName: String, statementTimeout: Duration = .zero, settings: [String: String] = [:],
        lockPatience: Duration = .zero
    ) {
        self.applicationName = applicationName
        self.statementTimeout = statementTimeout
        self.settings = settings
        self.lockPatience = lockPatience
    }

    /// What is set, and must hold afterwards, on servers that know it.
    var wanted: [String: String] {
        let (seconds, attoseconds) = statementTimeout.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        let standard = [
            "statement_timeout": String(milliseconds),
            "lock_timeout": "0",
            // No transaction waits for its client between two calls for long. One that does would keep its locks.
            "idle_in_transaction_session_timeout": "60000",
            "idle_session_timeout": "0",
            "transaction_timeout": "0",
            "synchronous_commit": "on",
            "default_transaction_isolation": "read committed",
            // Below it the server would keep silent about a standby that was not waited for.
            "client_min_messages": "warning",
            // A call that was given up may wait for a lock as long as there is a reason, with its session. The server looks
            // whether the client is there (since PostgreSQL 14), and ends it.
            "client_connection_check_interval": "2000",
        ]
        return standard.filter { settings[$0.key] == nil }
    }

    /// The settings of ``wanted`` with which the session begins. A role may have settings of its own under which the statements of
    /// ``step()`` would fail. Only settings that every server knows are among them, since a server
    /// refuses a session for one that it does not know.
    var startUp: [String: String] { wanted.filter { Self.atStartUp.contains($0.key) } }

    private static let atStartUp: Set<String> = [
        "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "synchronous_commit",
        "default_transaction_isolation", "client_min_messages",
    ]

    /// Sets what is wanted as far as this server knows it, since some of it is newer than others, and all of the rest.
    func step() -> PQStep {
        var parameters = PQParameters()
        for settings in [wanted, settings] {
            let sorted = settings.sorted { $0.key < $1.key }
            parameters.append(sorted.map { Array($0.key.utf8) })
            parameters.append(sorted.map { Array($0.value.utf8) })
        }
        return PQStep(
            """
            WITH given AS (
                SELECT pg_catalog.convert_from(name, 'UTF8') AS name, pg_catalog.convert_from(value, 'UTF8') AS value,
                    false AS must
                FROM ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::bytea[])) AS w(name, value)
                UNION ALL
                SELECT pg_catalog.convert_from(name, 'UTF8'), pg_catalog.convert_from(value, 'UTF8'), true
                FROM ROWS FROM (pg_catalog.unnest($3::bytea[]), pg_catalog.unnest($4::bytea[])) AS w(name, value)
            )
            SELECT pg_catalog.set_config(name, value, false) FROM given
            WHERE must OR name IN (SELECT s.name FROM pg_catalog.pg_settings s)
            """, parameters, reading: true)
    }

    /// For superusers alone: from others the server refuses it, and writes that into its log for each connection. Nothing depends on
    /// it but the language of messages.
    static let english = PQStep(
        """
        SELECT pg_catalog.set_config('lc_messages', 'C', false)
        WHERE pg_catalog.current_setting('is_superuser') = 'on'
        """, reading: true)

    /// The settings as they are, for who does not believe that they were taken, and what else is worth knowing.
    static let reading = PQStep(
        """
        SELECT name::text, CASE WHEN unit = 'ms' THEN setting ELSE pg_catalog.current_setting(name) END
        FROM pg_catalog.pg_settings
        WHERE name = ANY(ARRAY['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
            'idle_session_timeout', 'transaction_timeout', 'synchronous_commit', 'default_transaction_isolation',
            'default_transaction_read_only', 'client_min_messages', 'application_name',
            'client_connection_check_interval', 'lc_messages', 'client_encoding', 'server_encoding'])
        UNION ALL SELECT 'recovery', pg_catalog.pg_is_in_recovery()::text
        UNION ALL SELECT 'acting role', CURRENT_USER::text WHERE CURRENT_USER <> SESSION_USER
        """, reading: true)
}
