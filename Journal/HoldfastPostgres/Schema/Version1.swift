extension Migration {
    /// Ownership of journals: who has one, and whether that host lives.
    static let version1 = Migration(
        version: 1, readableFrom: 1,
        functions: [
            "schema_version()", "create_journal(text)", "look(int4)",
            "take_journal(int4, int8, int8, text, timestamptz)",
            "end_session(int4, timestamptz)", "beat(int4, int8, timestamptz)", "release_journal(int4, int8)",
        ]
    ) { schema in
        tables(schema) + versions(schema) + looking(schema) + taking(schema) + holding(schema)
    }

    /// `journals` changes when ownership does, `beats` every two seconds for each journal. A journal without a session is free.
    private static func tables(_ schema: String) -> [String] {
        [
            """
            CREATE TABLE \(schema).journals (
                id int4 GENERATED ALWAYS AS IDENTITY (MAXVALUE 32767) PRIMARY KEY,
                name text NOT NULL UNIQUE,
                host text,
                epoch int8 NOT NULL DEFAULT 0,
                session_pid int4,
                session_start timestamptz
            )
            """,
            """
            CREATE TABLE \(schema).beats (
                journal int4 PRIMARY KEY REFERENCES \(schema).journals,
                epoch int8 NOT NULL,
                n int8 NOT NULL
            ) WITH (fillfactor = 50)
            """,
        ]
    }

    private static func versions(_ schema: String) -> [String] {
        function(
            schema, "schema_version()", returns: "TABLE (version int4, readable_from int4)",
            """
            BEGIN
                RETURN QUERY SELECT s.version, s.readable_from FROM \(schema).schema s ORDER BY s.version DESC LIMIT 1;
            END
            """)
    }

    private static func looking(_ schema: String) -> [String] {
        // Numbers are few, so one is drawn only when the name is new.
        function(
            schema, "create_journal(of_name text)", returns: "int4",
            """
            DECLARE
                found int4;
            BEGIN
                SELECT j.id INTO found FROM \(schema).journals j WHERE j.name = of_name;
                IF found IS NOT NULL THEN RETURN found; END IF;
                INSERT INTO \(schema).journals (name) VALUES (of_name) ON CONFLICT (name) DO NOTHING RETURNING id INTO found;
                IF found IS NULL THEN
                    SELECT j.id INTO found FROM \(schema).journals j WHERE j.name = of_name;
                    RETURN found;
                END IF;
                INSERT INTO \(schema).beats (journal, epoch, n) VALUES (found, 0, 0);
                RETURN found;
            END
            """)
            // A standby shows the past, and may be promoted while a session looks at it.
            + function(
                schema, "look(of_journal int4)", returns: "TABLE (epoch int8, n int8, is_free bool, host text)",
                """
                BEGIN
                    IF pg_is_in_recovery() THEN
                        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby does not know who owns a journal';
                    END IF;
                    RETURN QUERY SELECT b.epoch, b.n, j.session_pid IS NULL, j.host
                        FROM \(schema).journals j JOIN \(schema).beats b ON b.journal = j.id WHERE j.id = of_journal;
                END
                """)
    }

    private static func taking(_ schema: String) -> [String] {
        // One row when it was taken, none when it is not any more as the taker saw it. A beat that is not committed yet is waited
        // for, and makes the taker wrong.
        function(
            schema,
            "take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz)",
            returns: "TABLE (epoch int8, old_pid int4, old_start timestamptz)",
            """
            BEGIN
                UPDATE \(schema).beats b SET epoch = seen_epoch + 1, n = 0
                    WHERE b.journal = of_journal AND b.epoch = seen_epoch AND b.n = seen_n;
                IF NOT FOUND THEN RETURN; END IF;
                SELECT seen_epoch + 1, j.session_pid, j.session_start INTO epoch, old_pid, old_start
                    FROM \(schema).journals j WHERE j.id = of_journal FOR UPDATE;
                UPDATE \(schema).journals j SET epoch = seen_epoch + 1, host = new_host, session_pid = pg_backend_pid(),
                    session_start = new_start WHERE j.id = of_journal;
                RETURN NEXT;
            END
            """)
            // With the caller's rights, which suffice for sessions of its own role. A number of a process is used again, so the
            // start of the session must be the same.
            + ofCaller(
                schema, "end_session(of_pid int4, of_start timestamptz)", returns: "bool",
                """
                BEGIN
                    RETURN coalesce((SELECT pg_terminate_backend(a.pid) FROM pg_stat_get_activity(of_pid) a
                        WHERE a.pid = of_pid AND a.backend_start = of_start AND a.pid <> pg_backend_pid()), false);
                EXCEPTION WHEN insufficient_privilege THEN RETURN false;
                END
                """)
    }

    private static func holding(_ schema: String) -> [String] {
        function(
            schema, "beat(of_journal int4, of_epoch int8, of_start timestamptz)", returns: "int8",
            """
            DECLARE
                now_n int8;
            BEGIN
                UPDATE \(schema).beats b SET n = b.n + 1
                    WHERE b.journal = of_journal AND b.epoch = of_epoch RETURNING b.n INTO now_n;
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                END IF;
                UPDATE \(schema).journals j SET session_pid = pg_backend_pid(), session_start = of_start
                    WHERE j.id = of_journal AND j.epoch = of_epoch
                    AND (j.session_pid, j.session_start) IS DISTINCT FROM (pg_backend_pid(), of_start);
                RETURN now_n;
            END
            """)
            // The next epoch, which nobody has.
            + function(
                schema, "release_journal(of_journal int4, of_epoch int8)", returns: "int8",
                """
                BEGIN
                    UPDATE \(schema).beats b SET epoch = of_epoch + 1, n = 0
                        WHERE b.journal = of_journal AND b.epoch = of_epoch;
                    IF NOT FOUND THEN
                        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                    END IF;
                    UPDATE \(schema).journals j SET epoch = of_epoch + 1, session_pid = NULL, session_start = NULL
                        WHERE j.id = of_journal;
                    RETURN of_epoch + 1;
                END
                """)
    }
}
