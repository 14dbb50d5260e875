extension Migration {
    /// What a host needs to follow others: a list of all journals, and which of them are closed.
    static let version3 = Migration(
        version: 3, readableFrom: 1,
        functions: [
            "list_journals()", "close_journal(int4, int8)", "accept_journal(int4, int8)",
            "restore_checkpoint(int4, int8, int8, bytea, int4)", "end_sessions(int4)",
        ], operating: ["list_journals()"]
    ) { schema in
        ["ALTER TABLE \(schema).journals ADD COLUMN is_closed bool NOT NULL DEFAULT false"] + listing(schema)
            + closing(schema) + restoring(schema) + ending(schema)
    }

    private static func listing(_ schema: String) -> [String] {
        function(
            schema, "list_journals()",
            returns: "TABLE (id int4, name text, host text, epoch int8, n int8, is_free bool, is_closed bool)",
            """
            BEGIN
                IF pg_is_in_recovery() THEN
                    RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby does not know who owns a journal';
                END IF;
                RETURN QUERY SELECT j.id, j.name, j.host, b.epoch, b.n, j.session_pid IS NULL, j.is_closed
                    FROM \(schema).journals j JOIN \(schema).beats b ON b.journal = j.id ORDER BY j.id;
            END
            """)
    }

    /// A journal is closed with its release, so that nobody who looks finds it free and not closed.
    private static func closing(_ schema: String) -> [String] {
        function(
            schema, "close_journal(of_journal int4, of_epoch int8)", returns: "int8",
            """
            BEGIN
                UPDATE \(schema).beats b SET epoch = of_epoch + 1, n = 0
                    WHERE b.journal = of_journal AND b.epoch = of_epoch;
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                END IF;
                UPDATE \(schema).journals j SET epoch = of_epoch + 1, session_pid = NULL, session_start = NULL,
                    is_closed = true WHERE j.id = of_journal;
                RETURN of_epoch + 1;
            END
            """)
            + function(
                schema, "accept_journal(of_journal int4, of_epoch int8)", returns: "void",
                """
                BEGIN
                    UPDATE \(schema).journals j SET is_closed = false WHERE j.id = of_journal AND j.epoch = of_epoch;
                    IF NOT FOUND THEN
                        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                    END IF;
                END
                """)
    }

    /// Ends a checkpoint of a commit that the log lacks, since the database was rolled back: commits go on behind it. In one
    /// transaction, so that there is never a gap.
    private static func restoring(_ schema: String) -> [String] {
        function(
            schema,
            "restore_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4)",
            returns: "void",
            """
            DECLARE
                own record;
                is_full bool;
            BEGIN
                SELECT j.slot, j.base, j.checkpoint_slot INTO own
                    FROM \(schema).journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR UPDATE;
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                END IF;
                IF own.slot <> own.checkpoint_slot THEN
                    EXECUTE format('SELECT EXISTS (SELECT FROM \(schema).log_%s_%s)', of_journal, own.slot) INTO is_full;
                    IF is_full OR of_number < own.base THEN
                        RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the log has commits that the checkpoint lacks';
                    END IF;
                    UPDATE \(schema).journals j SET base = of_number WHERE j.id = of_journal;
                END IF;
                PERFORM \(schema).end_checkpoint(of_journal, of_epoch, of_number, of_sum, of_chunks);
            END
            """)
    }

    /// Ends all sessions for a journal but the caller's, by their names: one whose last words did not arrive whole may hold locks
    /// for as long as its connection seems to live. With the caller's rights, as `end_session`.
    private static func ending(_ schema: String) -> [String] {
        ofCaller(
            schema, "end_sessions(of_journal int4)", returns: "int8",
            """
            BEGIN
                RETURN (SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
                    WHERE a.usename = current_user AND a.datname = current_database() AND a.pid <> pg_backend_pid()
                    AND a.application_name ~ format('^holdfast [a-z]+ of journal %s$', of_journal));
            EXCEPTION WHEN insufficient_privilege THEN RETURN 0;
            END
            """)
    }
}
