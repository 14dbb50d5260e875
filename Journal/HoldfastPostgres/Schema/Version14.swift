extension Migration {
    /// A promotion counts as one without loss where a host vouches for it; else what may have been sent is in doubt, in the outbox
    /// and in journals. See ManyMachines.md.
    static let version14 = Migration(
        // Programs before this vouch for nothing but their own journals.
        version: 14, readableFrom: 7,
        functions: [
            "remember_fleet()", "vouch(text, text, text, text)", "doubt_of(int4, int8, int8)", "end_doubt(int4, int8)",
        ]
    ) { schema in
        vouchTables(schema)
            + lookingForPromotions(
                schema,
                sighting: "INSERT INTO \(schema).sighted SELECT b.journal, b.epoch, b.n FROM \(schema).beats b;")
            + remembering(schema)
            + vouching(
                schema, "vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text)",
                following: """
                    UPDATE \(schema).fleet f SET promotion = CASE WHEN verdict = 'denied' THEN 'denied' ELSE 'told' END,
                            is_lossy = f.is_lossy OR verdict <> 'lossless' WHERE verdict <> 'older';
                    """)
            + hearingOfPromotions(schema) + claimingVouched(schema) + doubting(schema)
    }

    /// `promotion` is empty where there was none, or it is decided; `unvouched` until a host that knows says how it was; then `told`,
    /// or `denied` where the database lacks ownerships that a host has seen. `sighted` has the owners and beats as they were in the
    /// database when it changed.
    private static func vouchTables(_ schema: String) -> [String] {
        [
            """
            ALTER TABLE \(schema).fleet ADD COLUMN former text NOT NULL DEFAULT '',
                ADD COLUMN promotion text NOT NULL DEFAULT '', ADD COLUMN asked_at timestamptz
            """,
            "CREATE TABLE \(schema).sighted (journal int4 PRIMARY KEY, epoch int8, n int8)",
            """
            CREATE TABLE \(schema).doubts (
                journal int4 PRIMARY KEY,
                stamp uuid,
                incarnation text NOT NULL,
                is_over bool NOT NULL
            )
            """,
        ]
    }

    /// As before, and a promotion is unvouched at first. Where nobody has ever had a journal, nobody has sent anything.
    ///
    /// - Parameter sighting: the statement that notes all owners and their beats.
    static func lookingForPromotions(_ schema: String, sighting: String) -> [String] {
        lookingForLosses(
            schema, since: "(f.is_lossy OR f.promotion IN ('unvouched', 'denied'))",
            setting: """
                ,
                            former = f.timeline, asked_at = NULL,
                            promotion = CASE WHEN f.timeline <> line AND EXISTS (SELECT FROM \(schema).journals)
                                THEN 'unvouched' ELSE '' END
                """,
            noting: """

                            DELETE FROM \(schema).sighted;
                            \(sighting)
                """)
    }

    /// Returns the state of one instant, with which a host can vouch later: the timeline, the standbys that commits wait for, and all
    /// owners with their beats, which date it. `is_asked` says whether a host is waited for that vouches.
    private static func remembering(_ schema: String) -> [String] {
        function(
            schema, "remember_fleet()",
            returns: "TABLE (id text, incarnation text, timeline text, awaited text, beats text, is_asked bool)",
            """
            BEGIN
                PERFORM \(schema).look_at_fleet();
                RETURN QUERY SELECT f.id::text, f.incarnation, f.timeline, to_json(f.awaited)::text,
                    coalesce((SELECT string_agg(concat_ws(' ', b.journal, b.epoch, b.n), ',') FROM \(schema).beats b), ''),
                    f.held > 0 AND f.promotion IN ('unvouched', 'told') FROM \(schema).fleet f;
            END
            """)
    }

    /// Says what a host remembers of the time before a promotion, and returns what follows from it.
    ///
    /// - It knows an owner that the database does not, or a newer timeline: others may have sent what is there.
    /// - It is older than what the database has itself, so it knows nothing of the end.
    /// - The standby was not waited for, or lacks beats: it may lack commits.
    /// - It was waited for to the end, and has all of them.
    ///
    /// - Parameter following: the statement that does what follows from the `verdict`.
    static func vouching(_ schema: String, _ signature: String, following: String) -> [String] {
        function(
            schema, signature, returns: "text",
            """
            DECLARE
                fleet record;
                is_newer bool;
                is_older bool;
                is_lacking bool;
                names text[] := ARRAY(SELECT json_array_elements_text(of_awaited::json));
                verdict text;
            BEGIN
                PERFORM \(schema).look_at_fleet();
                SELECT f.incarnation, f.former, f.held, f.promotion INTO fleet FROM \(schema).fleet f FOR UPDATE;
                IF fleet.held = 0 OR fleet.promotion NOT IN ('unvouched', 'told') OR fleet.incarnation = of_incarnation THEN
                    RETURN 'late';
                END IF;
                WITH own AS (
                    SELECT split_part(p, ' ', 1)::int4 AS journal, split_part(p, ' ', 2)::int8 AS epoch,
                        split_part(p, ' ', 3)::int8 AS n
                    FROM unnest(string_to_array(of_beats, ',')) p
                )
                SELECT of_timeline > fleet.former
                        OR bool_or(o.epoch IS NOT NULL AND (s.epoch IS NULL OR s.epoch < o.epoch)),
                    of_timeline < fleet.former
                        OR bool_or(s.epoch IS NOT NULL AND (o.epoch IS NULL OR o.epoch < s.epoch
                            OR o.epoch = s.epoch AND o.n + 5 < s.n)),
                    bool_or(o.epoch = s.epoch AND s.n + 2 < o.n)
                    INTO is_newer, is_older, is_lacking
                    FROM own o FULL JOIN \(schema).sighted s ON s.journal = o.journal;
                verdict := CASE WHEN is_newer THEN 'denied' WHEN is_older THEN 'older'
                    WHEN is_lacking OR lower(current_setting('cluster_name')) <> ALL (names) THEN 'lossy' ELSE 'lossless' END;
                \(following)
                RETURN verdict;
            END
            """)
    }

    /// As before. If all owners that the database knows say that it has all of their journals, nobody else is asked; and who comes
    /// late takes back that his journal is in doubt.
    private static func hearingOfPromotions(_ schema: String) -> [String] {
        function(
            schema, "hear_journal(of_journal int4, of_stamp uuid, seen_incarnation text)", returns: "void",
            replacing: true,
            """
            BEGIN
                DELETE FROM \(schema).doubts d WHERE d.journal = of_journal AND d.stamp = of_stamp
                    AND EXISTS (SELECT FROM \(schema).fleet f WHERE f.incarnation = seen_incarnation);
                DELETE FROM \(schema).unheard u WHERE u.journal = of_journal
                    AND EXISTS (SELECT FROM \(schema).fleet f WHERE f.incarnation = seen_incarnation)
                    AND u.stamp = of_stamp;
                IF FOUND AND NOT EXISTS (SELECT FROM \(schema).unheard) THEN
                    UPDATE \(schema).fleet f SET promotion = 'told' WHERE f.promotion = 'unvouched';
                END IF;
            END
            """)
    }
}
