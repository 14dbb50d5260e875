extension Migration {
    /// A claim to have more of a journal than the database counts as long as its host lives, and a journal is closed until somebody
    /// accepts into it. See ManyMachines.md.
    static let version12 = Migration(
        // What an earlier program claims counts as long as before.
        version: 12, readableFrom: 7,
        functions: ["claim_journal(int4, int8, int8)"]
    ) { schema in
        claims(schema) + takingBesideClaims(schema) + restoringBesideClaims(schema) + creatingClosed(schema)
            + restoringOpen(schema)
    }

    /// A claim has an end, which whoever claims puts off while he waits. Of two who claim up to the same commit, the later end counts.
    private static func claims(_ schema: String) -> [String] {
        ["ALTER TABLE \(schema).claims ADD COLUMN lasting interval NOT NULL DEFAULT '1 minute'"]
            + function(
                schema, "claim_journal(of_journal int4, of_number int8, lasting_milliseconds int8)", returns: "void",
                """
                BEGIN
                    INSERT INTO \(schema).claims AS c (journal, number, incarnation, at, lasting)
                        SELECT of_journal, of_number, f.incarnation, clock_timestamp(),
                            lasting_milliseconds * interval '1 millisecond' FROM \(schema).fleet f
                        WHERE EXISTS (SELECT FROM \(schema).journals j WHERE j.id = of_journal)
                        ON CONFLICT (journal, number) DO UPDATE SET incarnation = excluded.incarnation, at = excluded.at,
                            lasting = greatest(excluded.lasting, c.at + c.lasting - excluded.at);
                    UPDATE \(schema).fleet f SET is_lossy = true WHERE f.held > 0 AND NOT f.is_lossy;
                END
                """)
            // Programs before this version need not claim again in time.
            + function(
                schema, "claim_journal(of_journal int4, of_number int8)", returns: "void", replacing: true,
                """
                BEGIN
                    PERFORM \(schema).claim_journal(of_journal, of_number, 60000);
                END
                """)
    }

    /// Whether somebody who is waited for has more of the journal than `own_number`.
    private static func othersHaveMore(_ schema: String) -> String {
        """
        EXISTS (SELECT FROM \(schema).claims c WHERE c.journal = of_journal AND c.number > own_number
                        AND c.incarnation = fleet.incarnation AND c.at + c.lasting > clock_timestamp())
        """
    }

    /// A journal that was owned before is taken by nobody for a while after the database has changed, and then by whoever
    /// knows most of it.
    private static func takingBesideClaims(_ schema: String) -> [String] {
        function(
            schema,
            "take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz, "
                + "grace_milliseconds int8, own_number int8)",
            returns: "TABLE (epoch int8, old_pid int4, old_start timestamptz)", replacing: true,
            """
            DECLARE
                fleet record;
            BEGIN
                SELECT l.incarnation, l.milliseconds INTO fleet FROM \(schema).look_at_fleet() l;
                IF seen_epoch > 0 THEN
                    IF fleet.milliseconds BETWEEN 0 AND grace_milliseconds THEN RETURN; END IF;
                    IF \(othersHaveMore(schema)) THEN RETURN; END IF;
                END IF;
                RETURN QUERY SELECT t.epoch, t.old_pid, t.old_start
                    FROM \(schema).take_journal(of_journal, seen_epoch, seen_n, new_host, new_start) t;
            END
            """)
    }

    /// Whether an owner may write back what the database has lost, while it goes on: it is the owner that the database knew as the
    /// last, and nobody has more of the journal. Within the grace that is not known yet.
    private static func restoringBesideClaims(_ schema: String) -> [String] {
        function(
            schema,
            "may_restore(of_journal int4, of_epoch int8, of_stamp uuid, own_number int8, grace_milliseconds int8)",
            returns: "text", replacing: true,
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
                        ORDER BY o.first DESC LIMIT 1) OR \(othersHaveMore(schema))
                THEN
                    RETURN 'no';
                END IF;
                RETURN CASE WHEN fleet.milliseconds BETWEEN 0 AND grace_milliseconds THEN 'later' ELSE 'yes' END;
            END
            """)
    }

    /// A journal is closed until somebody accepts into it, so one with an owner that is closed is being opened. Its number is
    /// drawn behind what may fail, such as tables for which there is no room: numbers are few, and one that was drawn is gone. Those
    /// who make journals wait for each other, or they would make tables of the same number.
    private static func creatingClosed(_ schema: String) -> [String] {
        function(
            schema, "create_journal(of_name text)", returns: "int4", replacing: true,
            """
            DECLARE
                found int4;
                drawn int4;
            BEGIN
                SELECT j.id INTO found FROM \(schema).journals j WHERE j.name = of_name;
                IF found IS NOT NULL THEN RETURN found; END IF;
                PERFORM pg_advisory_xact_lock(hashtextextended('holdfast journals ' || '\(unquoted(schema))', 0));
                SELECT j.id INTO found FROM \(schema).journals j WHERE j.name = of_name;
                IF found IS NOT NULL THEN RETURN found; END IF;
                SELECT s.last_value + s.is_called::int INTO found FROM \(schema).journals_id_seq s;
            \(logTables(schema))
                INSERT INTO \(schema).journals (name, is_closed) VALUES (of_name, true) RETURNING id INTO drawn;
                IF drawn <> found THEN
                    RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = format(
                        'somebody else has drawn number %s for a journal meanwhile', found);
                END IF;
                INSERT INTO \(schema).beats (journal, epoch, n) VALUES (found, 0, 0);
                RETURN found;
            END
            """)
    }

    /// As before, and the journal has something in it from now on, whatever the database knew of it.
    private static func restoringOpen(_ schema: String) -> [String] {
        function(
            schema,
            "restore_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4)",
            returns: "void", replacing: true,
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
                UPDATE \(schema).journals j SET is_closed = false WHERE j.id = of_journal AND j.is_closed;
            END
            """)
    }
}
