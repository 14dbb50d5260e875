extension Migration {
    /// Rows of the outbox that may have been taken by commits that the database has lost: nobody gets them before the owners of
    /// journals have compared what they have with it. See ManyMachines.md.
    static let version8 = Migration(
        // Programs of version 7 get no row that is in doubt, and put back what they have as before.
        version: 8, readableFrom: 7,
        functions: [
            "claim_outbox(int4, int8, int4, int8)", "reclaim_outbox(int4, int8, int8, int4, int8)",
            "hear_journal(int4, uuid, text)", "claim_taken(int4, int8[], int8[], bool)",
        ]
    ) { schema in
        doubtTables(schema) + lookingForChanges(schema) + hearing(schema) + claimingOutOfDoubt(schema)
            + claimingAsBefore(schema) + settlingInDoubt(schema) + cancellingOutOfDoubt(schema)
    }

    /// What may be lost by another start of the server, and by another server, is noted while nothing is lost: a standby that was
    /// promoted has other settings.
    private static func doubtTables(_ schema: String) -> [String] {
        [
            """
            ALTER TABLE \(schema).fleet ADD COLUMN timeline text NOT NULL DEFAULT '',
                ADD COLUMN is_synced bool NOT NULL DEFAULT true, ADD COLUMN has_standbys bool NOT NULL DEFAULT false,
                ADD COLUMN held int8 NOT NULL DEFAULT 0, ADD COLUMN is_lossy bool NOT NULL DEFAULT false,
                ADD COLUMN doubtful int8 NOT NULL DEFAULT 0, ADD COLUMN doubtful_since timestamptz NOT NULL DEFAULT 'epoch'
            """,
            "UPDATE \(schema).fleet SET timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)",
            "CREATE TABLE \(schema).unheard (journal int4 PRIMARY KEY REFERENCES \(schema).journals, stamp uuid)",
            "ALTER TABLE \(schema).outbox ADD COLUMN possibly_sent bool NOT NULL DEFAULT false",
        ]
    }

    private static func lastStamp(_ schema: String, of journal: String) -> String {
        "(SELECT o.stamp FROM \(schema).ownerships o WHERE o.journal = \(journal) ORDER BY o.first DESC LIMIT 1)"
    }

    private static let isSynced = "current_setting('fsync') = 'on'"
    private static let hasStandbys = "current_setting('synchronous_standby_names') <> ''"

    /// The first who looks after a change holds what is in the outbox, until all who owned a journal are heard. A change may lose
    /// commits where the schema was restored, where another server was promoted and no standby is waited for, and where the
    /// server does not sync. That a copy has more than the database shows it, too (`claim_journal`).
    private static func lookingForChanges(_ schema: String) -> [String] {
        function(
            schema, "look_at_fleet()", returns: "TABLE (id uuid, incarnation text, milliseconds int8)", replacing: true,
            """
            #variable_conflict use_column
            DECLARE
                present text := \(incarnation(schema));
                line text;
            BEGIN
                IF pg_is_in_recovery() THEN
                    RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby does not know who owns a journal';
                END IF;
                IF EXISTS (SELECT FROM \(schema).fleet f WHERE f.incarnation <> present) THEN
                    -- Where a server does not say it, each change is one to another server.
                    BEGIN
                        line := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
                    EXCEPTION WHEN OTHERS THEN line := present;
                    END;
                    UPDATE \(schema).fleet f SET incarnation = present, since = clock_timestamp(), timeline = line,
                        held = greatest(f.held, 1, (SELECT max(o.id) FROM \(schema).outbox o)),
                        is_lossy = f.held > 0 AND f.is_lossy OR NOT f.is_synced OR f.timeline <> line AND NOT f.has_standbys
                            OR split_part(f.incarnation, ' ', 2) <> split_part(present, ' ', 2)
                            OR split_part(f.incarnation, ' ', 3) <> split_part(present, ' ', 3)
                        WHERE f.incarnation <> present;
                    IF FOUND THEN
                        INSERT INTO \(schema).unheard SELECT j.id, \(lastStamp(schema, of: "j.id"))
                            FROM \(schema).journals j WHERE j.session_pid IS NOT NULL ON CONFLICT DO NOTHING;
                    END IF;
                END IF;
                UPDATE \(schema).fleet f SET is_synced = \(isSynced), has_standbys = \(hasStandbys)
                    WHERE f.is_synced <> (\(isSynced)) OR f.has_standbys <> (\(hasStandbys));
                RETURN QUERY SELECT f.id, f.incarnation,
                    (extract(epoch FROM clock_timestamp() - f.since) * 1000)::int8 FROM \(schema).fleet f;
            END
            """)
    }

    private static func hearing(_ schema: String) -> [String] {
        let isLossy = "UPDATE \(schema).fleet f SET is_lossy = true WHERE f.held > 0 AND NOT f.is_lossy;"
        // The last owner from before the change, whose stamp it is, has no commit more than the database. Whoever has taken the
        // journal over since can't say so: its copy was made of what is left.
        return function(
            schema, "hear_journal(of_journal int4, of_stamp uuid, seen_incarnation text)", returns: "void",
            """
            BEGIN
                DELETE FROM \(schema).unheard u WHERE u.journal = of_journal
                    AND EXISTS (SELECT FROM \(schema).fleet f WHERE f.incarnation = seen_incarnation)
                    AND u.stamp = of_stamp;
            END
            """)
            // Rows that a commit has taken which the database lacks. They wait for the journal to be put back, and whoever has
            // it without its copy knows that they may have been sent.
            + function(
                schema, "claim_taken(of_journal int4, numbers int8[], times int8[], is_whole bool)", returns: "void",
                """
                BEGIN
                    \(isLossy)
                \(indexesOnly)
                    UPDATE \(schema).outbox o SET journal = of_journal, possibly_sent = true
                        FROM unnest(numbers, times) AS t (number, time), \(schema).fleet f
                        WHERE o.id = t.number AND \(microseconds("o.at")) = t.time AND o.id <= f.held
                        AND (o.journal IS DISTINCT FROM of_journal OR NOT o.possibly_sent);
                    IF is_whole THEN DELETE FROM \(schema).unheard u WHERE u.journal = of_journal; END IF;
                END
                """)
            + function(
                schema, "claim_journal(of_journal int4, of_number int8)", returns: "void", replacing: true,
                """
                BEGIN
                    INSERT INTO \(schema).claims AS c (journal, number, incarnation, at)
                        SELECT of_journal, of_number, f.incarnation, clock_timestamp() FROM \(schema).fleet f
                        WHERE EXISTS (SELECT FROM \(schema).journals j WHERE j.id = of_journal)
                        ON CONFLICT (journal, number) DO UPDATE SET incarnation = excluded.incarnation, at = excluded.at;
                    \(isLossy)
                END
                """)
    }

    static func microseconds(_ time: String) -> String { "(extract(epoch FROM \(time)) * 1000000)::int8" }

    /// The end of a row of which it is not known whether it was sent is told as such.
    private static func settlingInDoubt(_ schema: String) -> [String] {
        function(
            schema, "settle_outbox(of_journal int4, of_epoch int8, given jsonb)", returns: "int8", replacing: true,
            """
            DECLARE
                ids int8[] := ARRAY(SELECT r.id FROM jsonb_to_recordset(given) AS r(id int8));
                settled int8;
            BEGIN
            \(indexesOnly)
                IF NOT EXISTS (SELECT FROM \(schema).outbox o WHERE o.id = ANY(ids)) THEN RETURN 0; END IF;
            \(owning(schema))
                WITH gone AS (
                    DELETE FROM \(schema).outbox o WHERE o.id = ANY(ids) AND o.journal = of_journal RETURNING o.*
                ), told AS (
                    INSERT INTO \(schema).outcomes (slot, journal, id, outcome, reason, detail, since, submitted_at,
                        ended_at, attempts, topic, token, channel, producer, tag, context)
                    SELECT t.slot, of_journal, g.apns_id, coalesce(r.outcome, 'rejected'), r.reason, r.detail,
                        timestamptz 'epoch' + r.since * interval '1 millisecond', g.at, now(), 0, g.topic,
                        encode(g.token, 'hex'), g.channel, \(producerName("g.producer")), g.tag, g.context
                    FROM gone g JOIN jsonb_to_recordset(given)
                            AS r(id int8, outcome text, reason text, detail text, since int8) ON r.id = g.id,
                        \(schema).slots t
                    WHERE t.name = 'outcomes' AND num_nonnulls(r.outcome, r.reason) > 0
                    ORDER BY g.id
                )
                SELECT count(*) INTO settled FROM gone;
                RETURN settled;
            END
            """)
    }
}
