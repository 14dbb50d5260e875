extension Migration {
    /// Rows that a host is to take into its journal. They stay in the outbox, marked, until they are in its log.
    static func claiming(_ schema: String) -> [String] {
        claim(schema) + claimedBefore(schema) + release(schema)
    }

    /// The columns of a claimed row, with their expressions.
    private static let claimedColumns = [
        ("id int8", "o.id"), ("apns_id uuid", "o.apns_id"), ("is_assigned bool", "o.is_assigned"),
        ("token bytea", "o.token"), ("channel text", "o.channel"), ("topic text", "o.topic"),
        ("payload text", "o.payload"), ("push_type text", "o.push_type"), ("priority int2", "o.priority"),
        ("expiration int8", "o.expiration"), ("try_until int8", "o.try_until"), ("collapse_id text", "o.collapse_id"),
        ("tag text", "o.tag"), ("context text", "o.context"), ("producer text", "o.producer"),
        ("is_once bool", "o.is_once"), ("environment text", "o.environment"),
        ("deliver_after int8", milliseconds("o.deliver_after")), ("deliver_within text", "o.deliver_within"),
        ("newest_wins bool", "o.newest_wins"), ("token_registered_at int8", milliseconds("o.token_registered_at")),
    ]
    static let claimedTable = "TABLE (" + claimedColumns.map(\.0).joined(separator: ", ") + ")"
    static let claimedValues = claimedColumns.map(\.1).joined(separator: ", ")

    static func milliseconds(_ time: String) -> String { "floor(extract(epoch FROM \(time)) * 1000)::int8" }

    /// Nothing is written, and nothing waits for the disk, where there is nothing to claim. Who reads a plan of an empty table
    /// from its cache would read all of it later, so that only indexes are used.
    private static func claim(_ schema: String) -> [String] {
        let isDue =
            "o.slot = \(scheduledSlot) AND o.journal IS NULL AND o.deliver_after < now() + interval '30 seconds'"
        let isFree = "o.slot < \(scheduledSlot) AND o.journal IS NULL"
        return function(
            schema, "claim_outbox(of_journal int4, of_epoch int8, most int4)", returns: claimedTable,
            """
            #variable_conflict use_column
            DECLARE
                ids int8[];
                first int8;
            BEGIN
            \(indexesOnly)
                SELECT o.id INTO first FROM \(schema).outbox o WHERE \(isFree) ORDER BY o.id LIMIT 1;
                IF first IS NULL AND NOT EXISTS (SELECT FROM \(schema).outbox o WHERE \(isDue)) THEN RETURN; END IF;
            \(owning(schema))
                ids := ARRAY(SELECT o.id FROM \(schema).outbox o WHERE \(isDue)
                        ORDER BY o.deliver_after LIMIT most FOR UPDATE SKIP LOCKED)
                    || ARRAY(SELECT o.id FROM \(schema).outbox o WHERE \(isFree) AND o.id >= first
                        ORDER BY o.id LIMIT most FOR UPDATE SKIP LOCKED);
                ids := ids[1:most];
                RETURN QUERY UPDATE \(schema).outbox o SET journal = of_journal WHERE o.id = ANY(ids)
                    RETURNING \(claimedValues);
            END
            """)
    }

    /// What this journal has claimed, by this owner or one before, behind a number.
    private static func claimedBefore(_ schema: String) -> [String] {
        function(
            schema, "claimed_outbox(of_journal int4, of_epoch int8, after_id int8, most int4)", returns: claimedTable,
            """
            #variable_conflict use_column
            BEGIN
            \(owning(schema))
                RETURN QUERY SELECT \(claimedValues) FROM \(schema).outbox o
                    WHERE o.journal = of_journal AND o.id > after_id ORDER BY o.id LIMIT most;
            END
            """)
    }

    /// Lets others have rows that were claimed, and not submitted.
    private static func release(_ schema: String) -> [String] {
        function(
            schema, "release_outbox(of_journal int4, of_epoch int8, ids int8[])", returns: "void",
            """
            BEGIN
            \(owning(schema))
            \(indexesOnly)
                UPDATE \(schema).outbox o SET journal = NULL WHERE o.id = ANY(ids) AND o.journal = of_journal;
            END
            """)
    }

    /// As `keep_commit`, for a commit that takes rows of the outbox into the journal: they are deleted with it. So each is
    /// either in the outbox or in the log.
    static func keepingWhileTaking(_ schema: String) -> [String] {
        function(
            schema,
            "keep_commit_taking(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[], taken int8[])",
            returns: "bool",
            """
            DECLARE
                found int8;
            BEGIN
                IF \(schema).keep_commit(of_journal, of_epoch, of_number, of_parts) THEN RETURN true; END IF;
            \(indexesOnly)
                DELETE FROM \(schema).outbox o WHERE o.id = ANY(taken) AND o.journal = of_journal;
                GET DIAGNOSTICS found = ROW_COUNT;
                IF found <> cardinality(taken) THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF008', MESSAGE = format(
                        'commit %s takes %s rows of the outbox, of which this journal has %s', of_number,
                        cardinality(taken), found);
                END IF;
                RETURN false;
            END
            """)
    }

    /// Removes rows that are not to be taken: those with a reason are told as rejected, and those without one were taken
    /// before. A repeat finds none of them, and does nothing.
    static func settling(_ schema: String) -> [String] {
        function(
            schema, "settle_outbox(of_journal int4, of_epoch int8, given jsonb)", returns: "int8",
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
                    SELECT t.slot, of_journal, g.apns_id, 'rejected', r.reason, r.detail,
                        timestamptz 'epoch' + r.since * interval '1 millisecond', g.at, now(), 0, g.topic,
                        encode(g.token, 'hex'), g.channel, \(producerName("g.producer")), g.tag, g.context
                    FROM gone g JOIN jsonb_to_recordset(given) AS r(id int8, reason text, detail text, since int8)
                        ON r.id = g.id, \(schema).slots t WHERE t.name = 'outcomes' AND r.reason IS NOT NULL
                    ORDER BY g.id
                )
                SELECT count(*) INTO settled FROM gone;
                RETURN settled;
            END
            """)
    }

    /// As it was submitted: null without one.
    static func producerName(_ name: String) -> String {
        "CASE WHEN \(name) LIKE 'sql:%' THEN substr(\(name), 5) WHEN \(name) <> 'sql' THEN \(name) END"
    }
}
