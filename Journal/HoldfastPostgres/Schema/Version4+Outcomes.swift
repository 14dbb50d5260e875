extension Migration {
    static func outcomes(_ schema: String) -> [String] { putting(schema) + takingOutcomes(schema) + trimming(schema) }

    /// The outcomes of a journal come in its order, each once: how far they are is changed with them, and only by who knows
    /// it.
    private static func putting(_ schema: String) -> [String] {
        function(
            schema, "outcome_cursor(of_journal int4, of_epoch int8)", returns: "int8",
            """
            BEGIN
            \(owning(schema))
                RETURN coalesce((SELECT c.place FROM \(schema).outcome_cursors c WHERE c.journal = of_journal), 0);
            END
            """)
            + function(
                schema,
                "put_outcomes(of_journal int4, of_epoch int8, from_place int8, to_place int8, given jsonb)",
                returns: "void",
                """
                BEGIN
                \(owning(schema))
                    INSERT INTO \(schema).outcome_cursors VALUES (of_journal, 0) ON CONFLICT DO NOTHING;
                    UPDATE \(schema).outcome_cursors c SET place = to_place
                        WHERE c.journal = of_journal AND c.place = from_place AND to_place > from_place;
                    IF NOT FOUND THEN
                        RAISE EXCEPTION USING ERRCODE = 'HF007', MESSAGE = format(
                            'the outcomes of the journal are not at %s any more', from_place);
                    END IF;
                    INSERT INTO \(schema).outcomes (slot, journal, \(OutcomeColumn.names))
                    SELECT t.slot, of_journal, r.id, r.outcome, r.reason, r.detail, r.status, \(time("since")),
                        \(time("submitted_at")), \(time("sent_at")), \(time("ended_at")), r.attempts, r.topic, r.token,
                        r.channel, r.address, \(producerName("r.producer")), r.tag, r.context, r.tag_bytes,
                        r.context_bytes, r.unique_id
                    FROM jsonb_to_recordset(given) AS r(place int8, id uuid, outcome text, reason text, detail text,
                        status int4, since int8, submitted_at int8, sent_at int8, ended_at int8, attempts int4, topic text,
                        token text, channel text, address text, producer text, tag text, context text, tag_bytes bytea,
                        context_bytes bytea, unique_id text), \(schema).slots t
                    WHERE t.name = 'outcomes' ORDER BY r.place;
                END
                """)
    }

    private static func time(_ name: String) -> String { "timestamptz 'epoch' + r.\(name) * interval '1 millisecond'" }

    /// Several applications may take at once: each gets others.
    private static func takingOutcomes(_ schema: String) -> [String] {
        let columns = OutcomeColumn.all.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        let values = OutcomeColumn.all.map { "o.\($0.name)" }.joined(separator: ", ")
        return function(
            schema, "take_outcomes", arguments: "most int4 DEFAULT 1000, of_producer text DEFAULT NULL",
            types: "int4, text", returns: "TABLE (number int8, \(columns))",
            """
            #variable_conflict use_column
            DECLARE
                numbers int8[];
            BEGIN
            \(indexesOnly)
                numbers := ARRAY(SELECT o.number FROM \(schema).outcomes o
                    WHERE of_producer IS NULL OR o.producer = of_producer
                    ORDER BY o.number LIMIT greatest(least(most, 10000), 0) FOR UPDATE SKIP LOCKED);
                RETURN QUERY WITH gone AS (
                    DELETE FROM \(schema).outcomes o WHERE o.number = ANY(numbers) RETURNING o.*
                ) SELECT o.number, \(values) FROM gone o ORDER BY o.number;
            END
            """)
    }

    /// Removes what nobody has taken for too long, or while so many others came, the oldest first.
    ///
    /// - Returns: how many, at most ten thousand.
    private static func trimming(_ schema: String) -> [String] {
        function(
            schema, "trim_outcomes(most_age interval, most_rows int8)", returns: "int8",
            """
            DECLARE
                last int8;
                numbers int8[];
                removed int8;
            BEGIN
            \(indexesOnly)
                SELECT o.number - most_rows INTO last FROM \(schema).outcomes o ORDER BY o.number DESC LIMIT 1;
                numbers := ARRAY(SELECT s.number FROM (
                        SELECT o.number, o.put_at FROM \(schema).outcomes o ORDER BY o.number LIMIT 10000) s
                    WHERE s.number <= last OR s.put_at < now() - most_age);
                IF cardinality(numbers) = 0 THEN RETURN 0; END IF;
                numbers := ARRAY(SELECT o.number FROM \(schema).outcomes o WHERE o.number = ANY(numbers)
                    FOR UPDATE SKIP LOCKED);
                DELETE FROM \(schema).outcomes o WHERE o.number = ANY(numbers);
                GET DIAGNOSTICS removed = ROW_COUNT;
                RETURN removed;
            END
            """)
    }
}
