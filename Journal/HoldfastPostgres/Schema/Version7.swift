extension Migration {
    /// Which database this is, since when, and who has written each journal: what a host needs to notice that the database went
    /// back in time, or is another one. See ManyMachines.md.
    static let version7 = Migration(
        // A program that notes no ownerships would have its commits taken for another's.
        version: 7, readableFrom: 7,
        functions: [
            "look_at_fleet()", "list_ownerships()", "note_ownerships(int4, int8, int8[], uuid[])",
            "claim_journal(int4, int8)", "take_journal(int4, int8, int8, text, timestamptz, int8, int8)",
        ]
    ) { schema in
        fleetTables(schema) + lookingAtFleet(schema) + ownershipsOfJournals(schema) + claimingJournals(schema)
    }

    /// The server's start, the database, and the table: another of them, and it may be older than hosts know. A promoted standby
    /// and a restored backup have another start, what `pg_restore` made is another table.
    static func incarnation(_ schema: String) -> String {
        """
        (SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), d.oid, '\(schema).fleet'::regclass::oid)
            FROM pg_database d WHERE d.datname = current_database())
        """
    }

    private static func fleetTables(_ schema: String) -> [String] {
        [
            "CREATE TABLE \(schema).fleet (id uuid NOT NULL, incarnation text NOT NULL, since timestamptz NOT NULL)",
            """
            INSERT INTO \(schema).fleet SELECT pg_catalog.gen_random_uuid(), \(incarnation(schema)), 'epoch'
            """,
            """
            CREATE TABLE \(schema).ownerships (
                journal int4 NOT NULL REFERENCES \(schema).journals,
                first int8 NOT NULL,
                stamp uuid NOT NULL,
                PRIMARY KEY (journal, first)
            )
            """,
            """
            CREATE TABLE \(schema).claims (
                journal int4 NOT NULL REFERENCES \(schema).journals,
                number int8 NOT NULL,
                incarnation text NOT NULL,
                at timestamptz NOT NULL,
                PRIMARY KEY (journal, number)
            )
            """,
        ]
    }

    /// The first who looks after a change notes it. Written by nobody else, so it costs nothing.
    private static func lookingAtFleet(_ schema: String) -> [String] {
        function(
            schema, "look_at_fleet()", returns: "TABLE (id uuid, incarnation text, milliseconds int8)",
            """
            BEGIN
                IF pg_is_in_recovery() THEN
                    RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby does not know who owns a journal';
                END IF;
                UPDATE \(schema).fleet f SET incarnation = \(incarnation(schema)), since = clock_timestamp()
                    WHERE f.incarnation <> \(incarnation(schema));
                RETURN QUERY SELECT f.id, f.incarnation,
                    (extract(epoch FROM clock_timestamp() - f.since) * 1000)::int8 FROM \(schema).fleet f;
            END
            """)
    }

    private static func ownershipsOfJournals(_ schema: String) -> [String] {
        function(
            schema, "list_ownerships()", returns: "TABLE (journal int4, first int8, stamp uuid)",
            """
            BEGIN
                RETURN QUERY SELECT o.journal, o.first, o.stamp FROM \(schema).ownerships o ORDER BY o.journal, o.first;
            END
            """)
            // In place of what there was. Whoever has claimed the journal has come too late, or is its owner now.
            + function(
                schema, "note_ownerships(of_journal int4, of_epoch int8, firsts int8[], stamps uuid[])",
                returns: "void",
                """
                BEGIN
                    PERFORM FROM \(schema).journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR UPDATE;
                    IF NOT FOUND THEN
                        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                    END IF;
                    DELETE FROM \(schema).ownerships o WHERE o.journal = of_journal;
                    INSERT INTO \(schema).ownerships
                        SELECT of_journal, o.first, o.stamp FROM unnest(firsts, stamps) AS o (first, stamp);
                    DELETE FROM \(schema).claims c WHERE c.journal = of_journal;
                END
                """)
    }

    private static func claimingJournals(_ schema: String) -> [String] {
        function(
            schema, "claim_journal(of_journal int4, of_number int8)", returns: "void",
            """
            BEGIN
                INSERT INTO \(schema).claims AS c (journal, number, incarnation, at)
                    SELECT of_journal, of_number, f.incarnation, clock_timestamp() FROM \(schema).fleet f
                    WHERE EXISTS (SELECT FROM \(schema).journals j WHERE j.id = of_journal)
                    ON CONFLICT (journal, number) DO UPDATE SET incarnation = excluded.incarnation, at = excluded.at;
            END
            """)
            // A journal that was owned before is taken by nobody for a while after the database has changed, and then by whoever
            // knows most of it. A host that has claimed and is gone is not waited for longer than a minute.
            + function(
                schema,
                "take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz, "
                    + "grace_milliseconds int8, own_number int8)",
                returns: "TABLE (epoch int8, old_pid int4, old_start timestamptz)",
                """
                DECLARE
                    fleet record;
                BEGIN
                    SELECT l.incarnation, l.milliseconds INTO fleet FROM \(schema).look_at_fleet() l;
                    IF seen_epoch > 0 THEN
                        IF fleet.milliseconds BETWEEN 0 AND grace_milliseconds THEN RETURN; END IF;
                        IF EXISTS (SELECT FROM \(schema).claims c WHERE c.journal = of_journal AND c.number > own_number
                            AND c.incarnation = fleet.incarnation AND c.at > clock_timestamp() - INTERVAL '1 minute')
                        THEN RETURN; END IF;
                    END IF;
                    RETURN QUERY SELECT t.epoch, t.old_pid, t.old_start
                        FROM \(schema).take_journal(of_journal, seen_epoch, seen_n, new_host, new_start) t;
                END
                """)
    }
}
