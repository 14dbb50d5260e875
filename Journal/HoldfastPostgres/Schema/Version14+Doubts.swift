extension Migration {
    /// As before, and who vouches for a promotion is waited for, half of the time from the first host on that asks. Where nobody
    /// does, or somebody knows of owners that the database lacks, all that is held is in doubt.
    private static func holdingUnvouched(_ schema: String) -> String {
        """
            SELECT l.milliseconds INTO passed FROM \(schema).look_at_fleet() l;
            UPDATE \(schema).fleet f SET asked_at = clock_timestamp()
                WHERE f.held > 0 AND f.promotion = 'unvouched' AND f.asked_at IS NULL;
            SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy, f.promotion, f.asked_at INTO fleet FROM \(schema).fleet f;
            IF fleet.held > 0 AND (passed NOT BETWEEN 0 AND hold_milliseconds
                    OR fleet.promotion <> 'unvouched' AND (NOT fleet.is_lossy OR passed > hold_milliseconds / 2)
                        AND NOT EXISTS (SELECT FROM \(schema).unheard))
                AND NOT (fleet.promotion = 'unvouched' AND clock_timestamp() BETWEEN fleet.asked_at
                    AND fleet.asked_at + hold_milliseconds / 2 * interval '1 millisecond')
            THEN
                is_doubtful := fleet.promotion IN ('unvouched', 'denied')
                    OR fleet.is_lossy AND EXISTS (SELECT FROM \(schema).unheard);
                UPDATE \(schema).fleet f SET held = 0, is_lossy = false, promotion = '', asked_at = NULL,
                    doubtful = CASE WHEN is_doubtful THEN f.held ELSE f.doubtful END,
                    doubtful_since = CASE WHEN is_doubtful THEN f.since ELSE f.doubtful_since END
                    WHERE f.held = fleet.held AND f.is_lossy = fleet.is_lossy AND f.promotion = fleet.promotion;
                IF FOUND THEN
                    IF is_doubtful THEN
                        UPDATE \(schema).outbox o SET possibly_sent = true
                            WHERE o.id <= fleet.held AND o.journal IN (SELECT u.journal FROM \(schema).unheard u);
                        INSERT INTO \(schema).doubts AS d SELECT u.journal, u.stamp, f.incarnation, false
                            FROM \(schema).unheard u, \(schema).fleet f
                            ON CONFLICT (journal) DO UPDATE SET stamp = excluded.stamp, incarnation = excluded.incarnation,
                                is_over = false WHERE d.incarnation <> excluded.incarnation;
                    END IF;
                    DELETE FROM \(schema).unheard;
                END IF;
                SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy INTO fleet FROM \(schema).fleet f;
            END IF;
        """
    }

    static func claimingVouched(_ schema: String) -> [String] {
        claimingOutOfDoubt(
            schema, replacing: true, declaring: "\n    is_doubtful bool;", holding: holdingUnvouched(schema))
    }

    /// The same, and what is scheduled is due by the time that the host says.
    static func claimingByHostsClock(_ schema: String) -> [String] {
        claiming(
            schema, argument: ", now_milliseconds int8", replacing: false,
            declaring: "\n    is_doubtful bool;\n    clock timestamptz := to_timestamp(now_milliseconds / 1000.0);",
            holding: holdingUnvouched(schema), now: "clock")
    }

    /// Whether what waits in a journal counts as possibly sent, for its owner that opens it: the owner before was lost with commits
    /// that the database may lack. `later` while somebody is waited for who vouches.
    static func doubting(_ schema: String) -> [String] {
        function(
            schema, "doubt_of(of_journal int4, of_epoch int8, patience_milliseconds int8)", returns: "text",
            """
            DECLARE
                fleet record;
            BEGIN
                PERFORM \(schema).look_at_fleet();
            \(owning(schema))
                UPDATE \(schema).fleet f SET asked_at = clock_timestamp()
                    WHERE f.held > 0 AND f.promotion = 'unvouched' AND f.asked_at IS NULL;
                SELECT f.incarnation, f.held, f.is_lossy, f.promotion, f.asked_at INTO fleet FROM \(schema).fleet f;
                IF EXISTS (SELECT FROM \(schema).doubts d WHERE d.journal = of_journal AND NOT d.is_over) THEN RETURN 'yes'; END IF;
                IF fleet.held = 0 OR NOT EXISTS (SELECT FROM \(schema).unheard u WHERE u.journal = of_journal)
                    OR EXISTS (SELECT FROM \(schema).doubts d WHERE d.journal = of_journal AND d.incarnation = fleet.incarnation)
                THEN
                    RETURN 'no';
                END IF;
                IF NOT fleet.is_lossy AND fleet.promotion = 'unvouched' AND clock_timestamp() BETWEEN fleet.asked_at
                    AND fleet.asked_at + patience_milliseconds * interval '1 millisecond'
                THEN
                    RETURN 'later';
                END IF;
                RETURN CASE WHEN fleet.is_lossy OR fleet.promotion IN ('unvouched', 'denied') THEN 'yes' ELSE 'no' END;
            END
            """)
            + function(
                schema, "end_doubt(of_journal int4, of_epoch int8)", returns: "void",
                """
                BEGIN
                \(owning(schema))
                    INSERT INTO \(schema).doubts SELECT of_journal, NULL, f.incarnation, true FROM \(schema).fleet f
                        ON CONFLICT (journal) DO UPDATE SET stamp = NULL, incarnation = excluded.incarnation, is_over = true;
                END
                """)
    }
}
