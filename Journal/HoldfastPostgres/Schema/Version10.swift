extension Migration {
    /// Which promotions are known to lose nothing, and which owner may write back what the database has lost while it goes on. See
    /// ManyMachines.md.
    static let version10 = Migration(
        // Programs of version 9 throw their engine away in place of writing back, and find what is lost as before.
        version: 10, readableFrom: 7,
        functions: ["may_restore(int4, int8, uuid, int8, int8)"]
    ) { schema in
        awaitedStandbys(schema) + lookingForLosses(schema, since: "f.is_lossy") + restoring(schema)
    }

    /// The names of standbys that every commit waits for, in small letters, by the text of `synchronous_standby_names`. Empty where
    /// a commit may go by one of them.
    private static func awaitedStandbys(_ schema: String) -> [String] {
        let names = "\(schema).awaited_standbys(current_setting('synchronous_standby_names'))"
        return function(
            schema, "awaited_standbys(setting text)", returns: "text[]",
            """
            DECLARE
                matched text[] := regexp_match(btrim(setting), '^(?:(?:first|any) +)?([0-9]+) *[(](.*)[)]$', 'i');
                parts text[] := ARRAY(SELECT btrim(p) FROM regexp_split_to_table(coalesce(matched[2], setting), ',') p);
                names text[] := ARRAY(SELECT DISTINCT lower(btrim(p, '"')) FROM unnest(parts) p);
            BEGIN
                IF EXISTS (SELECT FROM unnest(parts) p WHERE p !~ '^("[^"]+"|[^"*]+)$')
                    OR cardinality(names) > coalesce(matched[1]::int8, 1)
                THEN
                    RETURN '{}';
                END IF;
                RETURN names;
            END
            """) + [
                "ALTER TABLE \(schema).fleet DROP COLUMN has_standbys, ADD COLUMN awaited text[] NOT NULL DEFAULT '{}'",
                "UPDATE \(schema).fleet SET awaited = \(names)",
            ]
    }

    /// Another timeline counts as a loss, unless the server says by `cluster_name` that it is a standby that every commit has
    /// waited for: any other may have been behind.
    ///
    /// - Parameters:
    ///   - loss: what says that a change before, of which something is held yet, has lost commits.
    ///   - setting: further columns that a change sets, each behind a comma.
    ///   - noting: further statements for a change, each on a line of its own.
    static func lookingForLosses(
        _ schema: String, since loss: String, setting: String = "", noting: String = ""
    ) -> [String] {
        let isSynced = "current_setting('fsync') = 'on'"
        let awaited = "\(schema).awaited_standbys(current_setting('synchronous_standby_names'))"
        let lastStamp =
            "(SELECT o.stamp FROM \(schema).ownerships o WHERE o.journal = j.id ORDER BY o.first DESC LIMIT 1)"
        return function(
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
                        is_lossy = f.held > 0 AND \(loss) OR NOT f.is_synced
                            OR f.timeline <> line AND lower(current_setting('cluster_name')) <> ALL (f.awaited)
                            OR split_part(f.incarnation, ' ', 2) <> split_part(present, ' ', 2)
                            OR split_part(f.incarnation, ' ', 3) <> split_part(present, ' ', 3)\(setting)
                        WHERE f.incarnation <> present;
                    IF FOUND THEN
                        INSERT INTO \(schema).unheard SELECT j.id, \(lastStamp)
                            FROM \(schema).journals j WHERE j.session_pid IS NOT NULL ON CONFLICT DO NOTHING;\(noting)
                    END IF;
                END IF;
                UPDATE \(schema).fleet f SET is_synced = \(isSynced), awaited = \(awaited)
                    WHERE f.is_synced <> (\(isSynced)) OR f.awaited <> \(awaited);
                RETURN QUERY SELECT f.id, f.incarnation,
                    (extract(epoch FROM clock_timestamp() - f.since) * 1000)::int8 FROM \(schema).fleet f;
            END
            """)
    }

    /// Whether an owner may write back what the database has lost, while it goes on: it is the owner that the database knew as the
    /// last, and nobody has more of the journal. Within the grace that is not known yet.
    private static func restoring(_ schema: String) -> [String] {
        function(
            schema,
            "may_restore(of_journal int4, of_epoch int8, of_stamp uuid, own_number int8, grace_milliseconds int8)",
            returns: "text",
            """
            DECLARE
                fleet record;
            BEGIN
                SELECT l.incarnation, l.milliseconds INTO fleet FROM \(schema).look_at_fleet() l;
                PERFORM FROM \(schema).journals j WHERE j.id = of_journal AND j.epoch = of_epoch;
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                END IF;
                IF of_stamp IS DISTINCT FROM (SELECT o.stamp FROM \(schema).ownerships o WHERE o.journal = of_journal
                        ORDER BY o.first DESC LIMIT 1)
                    OR EXISTS (SELECT FROM \(schema).claims c WHERE c.journal = of_journal AND c.number > own_number
                        AND c.incarnation = fleet.incarnation AND c.at > clock_timestamp() - INTERVAL '1 minute')
                THEN
                    RETURN 'no';
                END IF;
                RETURN CASE WHEN fleet.milliseconds BETWEEN 0 AND grace_milliseconds THEN 'later' ELSE 'yes' END;
            END
            """)
    }
}
