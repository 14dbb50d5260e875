extension Migration {
    /// Operators' orders for all journals, also for those that come later, and since when a journal is free. See ManyMachines.md.
    static let version9 = Migration(
        // An earlier program does not heed orders, and harms nothing.
        version: 9, readableFrom: 7,
        functions: ["last_order()"] + ordering,
        operating: ordering
    ) { schema in
        orderTable(schema) + givingOrders(schema) + readingOrders(schema) + notingReleases(schema)
    }

    /// What operators call, and the tool on a host.
    private static let ordering = ["give_order(text, bytea, bool, text, text)", "read_orders()", "list_releases()"]

    /// The most pauses in force of lanes, and of tags, with the exceptions from them.
    private static let mostOrders = 64
    /// Orders that were replaced, and resumptions, are kept for so many numbers.
    private static let keptOrders = 1000

    /// An order without a subject was replaced by a later one. Its stamp stays, by which a journal knows that the database is
    /// still the one that it has read from.
    private static func orderTable(_ schema: String) -> [String] {
        [
            """
            CREATE TABLE \(schema).orders (
                number int8 PRIMARY KEY,
                stamp uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid(),
                subject text,
                target bytea,
                is_pause bool NOT NULL,
                reason text NOT NULL,
                ordered_by text NOT NULL,
                ordered_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
            )
            """
        ]
    }

    /// Whether the lanes of one name are among those of another, which is shorter by whole parts.
    private static func isPart(_ part: String, of whole: String) -> String {
        "substring(\(part) FROM 1 FOR octet_length(\(whole)) + 1) = \(whole) || '/'::bytea"
    }

    /// Whether the order `o` counts for a journal that heeds all of them: a pause, or lanes that an earlier pause does not mean.
    private static func counts(_ schema: String) -> String {
        """
        (o.is_pause OR EXISTS (SELECT FROM \(schema).orders p WHERE p.subject = 'lanes' AND p.is_pause
                    AND o.subject = 'lanes' AND p.number < o.number AND (p.target IS NULL OR \(isPart("o.target", of: "p.target")))))
        """
    }

    /// Orders are given one after the other. One replaces all earlier ones that mean nothing beyond it; of two that overlap
    /// otherwise, the later decides. Returns how many pauses it has replaced.
    private static func givingOrders(_ schema: String) -> [String] {
        function(
            schema, "give_order(of_subject text, of_target bytea, as_pause bool, why text, who text)",
            returns: "TABLE (number int8, ended int8)",
            """
            DECLARE
                next int8;
            BEGIN
                IF of_subject NOT IN ('lanes', 'tags') OR as_pause AND of_subject = 'tags' AND of_target IS NULL
                    OR octet_length(of_target) NOT BETWEEN 1 AND 512 OR octet_length(why) > 1024 OR octet_length(who) > 256
                THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF013', MESSAGE = 'the order is too large, or about nothing';
                END IF;
                LOCK TABLE \(schema).orders IN SHARE ROW EXCLUSIVE MODE;
                SELECT coalesce(max(o.number), 0) + 1 INTO next FROM \(schema).orders o;
                WITH replaced AS (
                    UPDATE \(schema).orders o SET subject = NULL, target = NULL, reason = '', ordered_by = ''
                    WHERE o.subject = of_subject AND (of_target IS NULL OR o.target = of_target
                        OR of_subject = 'lanes' AND \(isPart("o.target", of: "of_target")))
                    RETURNING o.is_pause)
                SELECT count(*) INTO ended FROM replaced r WHERE r.is_pause;
                INSERT INTO \(schema).orders (number, subject, target, is_pause, reason, ordered_by)
                    VALUES (next, of_subject, of_target, as_pause, why, concat_ws(', ', nullif(who, ''), 'role ' || session_user));
                IF (SELECT count(*) FROM \(schema).orders o WHERE o.subject = of_subject AND \(counts(schema))) > \(mostOrders) THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF016', MESSAGE = format(
                        '%s orders about %s are in force in the fleet, and no more can be', \(mostOrders), of_subject);
                END IF;
                DELETE FROM \(schema).orders o
                    WHERE o.number <= next - \(keptOrders) AND (o.subject IS NULL OR NOT \(counts(schema)));
                PERFORM pg_notify('\(commandChannel(schema))', '');
                number := next;
                RETURN NEXT;
            END
            """)
    }

    /// By a trigger, so that it holds for all that give a journal up.
    private static func notingReleases(_ schema: String) -> [String] {
        ["ALTER TABLE \(schema).journals ADD COLUMN freed_at timestamptz"]
            + function(
                schema, "note_release()", returns: "trigger",
                """
                BEGIN
                    NEW.freed_at := clock_timestamp();
                    RETURN NEW;
                END
                """)
            + [
                """
                CREATE TRIGGER note_release BEFORE UPDATE OF session_pid ON \(schema).journals FOR EACH ROW
                    WHEN (NEW.session_pid IS NULL AND OLD.session_pid IS NOT NULL) EXECUTE FUNCTION \(schema).note_release()
                """
            ]
            + function(
                schema, "list_releases()", returns: "TABLE (id int4, seconds int8)",
                """
                BEGIN
                    RETURN QUERY SELECT j.id, extract(epoch FROM clock_timestamp() - j.freed_at)::int8
                        FROM \(schema).journals j WHERE j.session_pid IS NULL AND j.freed_at IS NOT NULL;
                END
                """)
    }

    private static func readingOrders(_ schema: String) -> [String] {
        function(
            schema, "last_order()", returns: "TABLE (number int8, stamp uuid)",
            """
            BEGIN
                RETURN QUERY SELECT o.number, o.stamp FROM \(schema).orders o ORDER BY o.number DESC LIMIT 1;
            END
            """)
            + function(
                schema, "read_orders()",
                returns:
                    "TABLE (number int8, stamp uuid, subject text, target bytea, is_pause bool, reason text, ordered_by text, "
                    + "ordered_at int8)",
                """
                BEGIN
                    RETURN QUERY SELECT o.number, o.stamp, o.subject, o.target, o.is_pause, o.reason, o.ordered_by,
                        floor(extract(epoch FROM o.ordered_at) * 1000)::int8 FROM \(schema).orders o ORDER BY o.number;
                END
                """)
    }
}
