extension Migration {
    /// What a host needs to follow others: a list of all journals, and which of them are closed.
    static let version3 = Migration(
        version: 3, readableFrom: 1,
        functions: ["list_journals()", "close_journal(int4, int8)", "accept_journal(int4, int8)"]
    ) { schema in
        ["ALTER TABLE \(schema).journals ADD COLUMN is_closed bool NOT NULL DEFAULT false"] + listing(schema)
            + closing(schema)
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
}
