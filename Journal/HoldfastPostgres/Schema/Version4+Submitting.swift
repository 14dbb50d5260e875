extension Migration {
    static func submitting(_ schema: String) -> [String] {
        inserting(schema) + submit(schema) + submitMany(schema) + cancelling(schema)
    }

    /// Rows of what was checked, in the order of their numbers.
    ///
    /// - Parameter first: statements before all others, from a new line on.
    static func inserting(_ schema: String, replacing: Bool = false, first: String = "") -> [String] {
        helper(
            schema, "insert_submissions(given \(schema).submission[])", returns: "uuid[]", replacing: replacing,
            """
            DECLARE
                present int2;
                made uuid[];
            BEGIN\(first)
                SELECT t.slot INTO present FROM \(schema).slots t WHERE t.name = 'outbox';
                WITH inserted AS (
                    INSERT INTO \(schema).outbox AS o (slot, apns_id, is_assigned, token, channel, topic, payload,
                        push_type, priority, expiration, try_until, collapse_id, tag, context, producer, is_once,
                        environment, deliver_after, deliver_within, newest_wins, token_registered_at)
                    SELECT CASE WHEN s.deliver_after > now() + interval '1 minute' THEN \(scheduledSlot) ELSE present END,
                        coalesce(s.id, gen_random_uuid()), s.id IS NULL, decode(s.token, 'hex'), s.channel, s.topic,
                        s.payload::text, CASE WHEN s.channel IS NULL THEN s.push_type ELSE 'liveactivity' END, s.priority,
                        CASE WHEN s.channel IS NULL OR s.expiration > 'epoch' THEN floor(extract(epoch FROM s.expiration)) END,
                        floor(extract(epoch FROM s.try_until)), s.collapse_id, s.tag, nullif(s.context, ''),
                        coalesce('sql:' || s.producer, 'sql'), coalesce(s.guarantee = 'at-most-once', false),
                        s.environment, s.deliver_after, s.deliver_within, coalesce(s.newest_wins, false),
                        s.token_registered_at
                    FROM unnest(given) WITH ORDINALITY AS s ORDER BY s.ordinality
                    RETURNING o.id, o.apns_id)
                SELECT array_agg(i.apns_id ORDER BY i.id) INTO made FROM inserted i;
                RETURN made;
            END
            """)
    }

    private static func submit(_ schema: String) -> [String] {
        let arguments = SubmissionField.all.map { "\($0.name) \($0.type)" + ($0.isRequired ? "" : " DEFAULT NULL") }
        let values = SubmissionField.all.map { "submit.\($0.name)" }.joined(separator: ", ")
        return function(
            schema, "submit", arguments: arguments.joined(separator: ", "), types: SubmissionField.types,
            returns: "uuid",
            """
            DECLARE
                given \(schema).submission := ROW(\(values));
            BEGIN
                PERFORM \(schema).check_submission(given, '');
                RETURN (\(schema).insert_submissions(ARRAY[given]))[1];
            END
            """)
    }

    /// All or none. A value that PostgreSQL can't read as its type is told with its place, as everything else is.
    private static func submitMany(_ schema: String) -> [String] {
        let keys = SubmissionField.all.map { "'\($0.name)'" }.joined(separator: ", ")
        let list = { (message: String, hint: String) in
            "RAISE EXCEPTION USING ERRCODE = '\(badList)', MESSAGE = \(message), HINT = '\(hint)';"
        }
        return function(
            schema, "submit_many", arguments: "notifications jsonb", types: "jsonb", returns: "uuid[]",
            """
            DECLARE
                given \(schema).submission[] := '{}';
                one \(schema).submission;
                element jsonb;
                place int4 := -1;
                words text;
            BEGIN
                IF notifications IS NULL OR jsonb_typeof(notifications) <> 'array' THEN
                    \(list("'the notifications are no JSON array'",
                        "Give an array of objects with the arguments of submit as their keys."))
                END IF;
                IF jsonb_array_length(notifications) > 10000 THEN
                    \(list("format('there are %s notifications', jsonb_array_length(notifications))",
                        "Give at most 10000 at once: 100 to 1000 are fast."))
                END IF;
                FOR element IN SELECT e.value FROM jsonb_array_elements(notifications) WITH ORDINALITY AS e
                    ORDER BY e.ordinality
                LOOP
                    place := place + 1;
                    IF jsonb_typeof(element) <> 'object' THEN
                        \(list("format('notifications[%s] is no object', place)",
                            "Give objects with the arguments of submit as their keys."))
                    END IF;
                    IF element - ARRAY[\(keys)] <> '{}' THEN
                        SELECT min(k) INTO words FROM jsonb_object_keys(element - ARRAY[\(keys)]) AS k;
                        \(list("format('notifications[%s] has the key %s', place, quote_literal(left(words, 64)))",
                            "The keys are the arguments of submit, such as topic and collapse_id."))
                    END IF;
                    one := jsonb_populate_record(NULL::\(schema).submission, element);
                    IF element -> 'payload' = 'null' THEN one.payload := NULL; END IF;
                    PERFORM \(schema).check_submission(one, format('notifications[%s]: ', place));
                    given := given || one;
                END LOOP;
                RETURN coalesce(\(schema).insert_submissions(given), '{}');
            EXCEPTION WHEN data_exception THEN
                GET STACKED DIAGNOSTICS words = MESSAGE_TEXT;
                \(list("format('notifications[%s]: %s', place, words)",
                    "Give values that the arguments of submit can take."))
            END
            """)
    }

    /// Whether it was still to be cancelled. One that a host has claimed belongs to its journal from then on.
    private static func cancelling(_ schema: String) -> [String] {
        function(
            schema, "cancel", arguments: "id uuid", types: "uuid", returns: "bool",
            """
            BEGIN
                DELETE FROM \(schema).outbox o WHERE o.apns_id = cancel.id AND o.journal IS NULL;
                RETURN FOUND;
            END
            """)
    }
}
