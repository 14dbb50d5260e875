extension Migration {
    /// What hosts share: the blacklist, notes, and operators' commands. See ManyMachines.md.
    static let version5 = Migration(
        version: 5, readableFrom: 1,
        functions: [
            "share_blacklist(uuid, int8, int8[], bytea[], bytea[], int8[], int8[], bytea[])",
            "blacklist_state(int8)", "read_blacklist(int8, int4)", "trim_blacklist(int8)",
            "read_note(text)", "swap_note(text, int8, bytea)",
        ] + commandCalls + commandServing,
        operating: ["schema_version()"] + commandCalls
    ) { schema in
        blacklistTables(schema) + sharing(schema) + feeding(schema) + trimming(schema) + notes(schema)
            + commandTables(schema) + asking(schema) + claimingCommands(schema)
    }

    /// `blacklist` has a row for each scope of a recipient; one without `entry` says that it was removed. Addresses and topics may
    /// be longer than what an index takes, so that it has hashes of them.
    ///
    /// Numbers come from the one row of `blacklist_feed`, which is locked until the commit: so their order is that of commits,
    /// and who has read up to a number never misses a lower one. A mark is the end of a commit, by which a reader knows
    /// that the database is still the one that it has read from. A writer's last turn makes a repeated call harmless.
    private static func blacklistTables(_ schema: String) -> [String] {
        [
            """
            CREATE TABLE \(schema).blacklist (
                recipient bytea NOT NULL,
                scope bytea NOT NULL,
                number int8 NOT NULL,
                since int8 NOT NULL,
                expires int8 NOT NULL,
                entry bytea
            )
            """,
            """
            CREATE UNIQUE INDEX blacklist_scopes
                ON \(schema).blacklist (pg_catalog.sha256(recipient), pg_catalog.sha256(scope))
            """,
            "CREATE UNIQUE INDEX blacklist_numbers ON \(schema).blacklist (number)",
            "CREATE TABLE \(schema).blacklist_feed (last int8 NOT NULL) WITH (fillfactor = 50)",
            "INSERT INTO \(schema).blacklist_feed (last) VALUES (0)",
            """
            CREATE TABLE \(schema).blacklist_marks (
                number int8 PRIMARY KEY,
                stamp uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid(),
                at timestamptz NOT NULL DEFAULT pg_catalog.now()
            )
            """,
            """
            CREATE TABLE \(schema).blacklist_writers (
                writer uuid PRIMARY KEY,
                turn int8 NOT NULL,
                number int8 NOT NULL,
                removed int8[] NOT NULL,
                at timestamptz NOT NULL DEFAULT pg_catalog.now()
            )
            """,
        ]
    }

    /// Changes, each of a kind: 1 adds an entry, 2 removes one that holds since before a time, 3 removes all of a recipient.
    ///
    /// An addition follows the rules of `TokenEntries`. What changes nothing gets no number.
    private static func sharing(_ schema: String) -> [String] {
        function(
            schema,
            """
            share_blacklist(of_writer uuid, of_turn int8, kinds int8[], recipients bytea[], scopes bytea[], sinces int8[], \
            expiries int8[], entries bytea[])
            """, returns: "TABLE (number int8, removed int8[])",
            """
            DECLARE
                before int8;
                n int8;
                made int8;
                counts int8[] := '{}';
                old record;
                is_known bool;
            BEGIN
                -- A plan that was made while the table was empty must not read all of it for each change later.
                PERFORM set_config('enable_seqscan', 'off', true);
                SELECT f.last INTO before FROM \(schema).blacklist_feed f FOR UPDATE;
                SELECT w.number, w.removed INTO number, removed
                    FROM \(schema).blacklist_writers w WHERE w.writer = of_writer AND w.turn = of_turn;
                IF FOUND THEN
                    RETURN NEXT;
                    RETURN;
                END IF;
                n := before;
                FOR i IN 1..cardinality(kinds) LOOP
                    made := 0;
                    IF kinds[i] = 1 THEN
                        SELECT b.number, b.since, b.expires, b.entry INTO old FROM \(schema).blacklist b
                            WHERE sha256(b.recipient) = sha256(recipients[i]) AND sha256(b.scope) = sha256(scopes[i]);
                        is_known := FOUND;
                        IF is_known AND old.entry IS NOT NULL THEN
                            IF old.since < sinces[i] OR old.expires < expiries[i] THEN
                                n := n + 1;
                                UPDATE \(schema).blacklist b SET number = n, since = greatest(b.since, sinces[i]),
                                    expires = greatest(b.expires, expiries[i]), entry = entries[i]
                                    WHERE b.number = old.number;
                            END IF;
                        ELSE
                            IF (SELECT count(*) FROM \(schema).blacklist b
                                    WHERE sha256(b.recipient) = sha256(recipients[i]) AND b.entry IS NOT NULL)
                                    >= \(greatestScopeCount) THEN
                                n := n + 1;
                                UPDATE \(schema).blacklist b SET number = n, entry = NULL WHERE b.number = (
                                    SELECT o.number FROM \(schema).blacklist o
                                    WHERE sha256(o.recipient) = sha256(recipients[i]) AND o.entry IS NOT NULL
                                    ORDER BY get_byte(o.scope, 0) & 1 DESC, o.number LIMIT 1);
                            END IF;
                            n := n + 1;
                            IF is_known THEN
                                UPDATE \(schema).blacklist b SET number = n, since = sinces[i], expires = expiries[i],
                                    entry = entries[i] WHERE b.number = old.number;
                            ELSE
                                INSERT INTO \(schema).blacklist (recipient, scope, number, since, expires, entry)
                                    VALUES (recipients[i], scopes[i], n, sinces[i], expiries[i], entries[i]);
                            END IF;
                        END IF;
                    ELSE
                        FOR old IN SELECT b.number FROM \(schema).blacklist b
                            WHERE sha256(b.recipient) = sha256(recipients[i]) AND b.entry IS NOT NULL
                            AND (kinds[i] = 3 OR (sha256(b.scope) = sha256(scopes[i]) AND b.since < sinces[i]))
                            ORDER BY b.number
                        LOOP
                            n := n + 1;
                            made := made + 1;
                            UPDATE \(schema).blacklist b SET number = n, entry = NULL WHERE b.number = old.number;
                        END LOOP;
                    END IF;
                    counts[i] := made;
                END LOOP;
                IF n > before THEN
                    UPDATE \(schema).blacklist_feed f SET last = n;
                    INSERT INTO \(schema).blacklist_marks (number) VALUES (n);
                END IF;
                INSERT INTO \(schema).blacklist_writers AS w (writer, turn, number, removed)
                    VALUES (of_writer, of_turn, n, counts)
                    ON CONFLICT (writer) DO UPDATE SET turn = of_turn, number = n, removed = counts, at = now();
                number := n;
                removed := counts;
                RETURN NEXT;
            END
            """)
    }

    /// As many entries as ``TokenEntries`` keeps of a recipient.
    static let greatestScopeCount = 64

    private static func feeding(_ schema: String) -> [String] {
        // A standby shows the past, which copies have left behind them.
        function(
            schema, "blacklist_state(of_number int8)", returns: "TABLE (last int8, stamp uuid, known uuid)",
            """
            BEGIN
                IF pg_is_in_recovery() THEN
                    RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby may lack what the blacklist has';
                END IF;
                RETURN QUERY SELECT f.last, (SELECT m.stamp FROM \(schema).blacklist_marks m WHERE m.number = f.last),
                    (SELECT m.stamp FROM \(schema).blacklist_marks m WHERE m.number = of_number)
                    FROM \(schema).blacklist_feed f;
            END
            """)
            + function(
                schema, "read_blacklist(after_number int8, row_limit int4)",
                returns: "TABLE (number int8, recipient bytea, scope bytea, since int8, expires int8, entry bytea)",
                """
                BEGIN
                    RETURN QUERY SELECT b.number, b.recipient, b.scope, b.since, b.expires, b.entry
                        FROM \(schema).blacklist b WHERE b.number > after_number ORDER BY b.number LIMIT row_limit;
                END
                """)
    }

    /// Deletes removed rows, marks and writers that are older than some seconds. A copy that has not come to the first mark that
    /// stays is filled anew, since it can't know what was removed.
    private static func trimming(_ schema: String) -> [String] {
        function(
            schema, "trim_blacklist(keep_seconds int8)", returns: "int8",
            """
            DECLARE
                bound timestamptz := now() - keep_seconds * INTERVAL '1 second';
                old int8;
                made int8;
            BEGIN
                PERFORM FROM \(schema).blacklist_feed f FOR UPDATE;
                SELECT max(m.number) INTO old FROM \(schema).blacklist_marks m WHERE m.at < bound;
                DELETE FROM \(schema).blacklist_marks m WHERE m.number < old;
                DELETE FROM \(schema).blacklist b WHERE b.entry IS NULL AND b.number <= old;
                GET DIAGNOSTICS made = ROW_COUNT;
                DELETE FROM \(schema).blacklist_writers w WHERE w.at < bound;
                RETURN made;
            END
            """)
    }
}
