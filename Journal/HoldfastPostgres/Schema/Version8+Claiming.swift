extension Migration {
    private static let grownTable = "\(claimedTable.dropLast()), at int8, possibly_sent bool)"
    private static let grownValues = "\(claimedValues), \(microseconds("o.at")), o.possibly_sent"

    /// One that goes out this much later than the change was not taken before it, whatever the clocks of two servers say.
    private static func isLater(than time: String) -> String {
        "o.slot = \(scheduledSlot) AND o.deliver_after > \(time) + interval '5 minutes'"
    }

    /// Statements that read what is held into `fleet`, and end the holding: when all who owned a journal are heard, or when the
    /// time is over. Where commits may be lost, half of the time passes in any case, for hosts that the database does not know of.
    /// Of whom nobody was heard then may have sent what is there.
    private static func holding(_ schema: String) -> String {
        """
            SELECT l.milliseconds INTO passed FROM \(schema).look_at_fleet() l;
            SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy INTO fleet FROM \(schema).fleet f;
            IF fleet.held > 0 AND (passed NOT BETWEEN 0 AND hold_milliseconds
                OR (NOT fleet.is_lossy OR passed > hold_milliseconds / 2) AND NOT EXISTS (SELECT FROM \(schema).unheard))
            THEN
                UPDATE \(schema).fleet f SET held = 0, is_lossy = false,
                    doubtful = CASE WHEN s.is_doubtful THEN f.held ELSE f.doubtful END,
                    doubtful_since = CASE WHEN s.is_doubtful THEN f.since ELSE f.doubtful_since END
                    FROM (SELECT EXISTS (SELECT FROM \(schema).unheard) AS is_there) u,
                        LATERAL (SELECT u.is_there AND fleet.is_lossy AS is_doubtful) s
                    WHERE f.held = fleet.held AND f.is_lossy = fleet.is_lossy;
                IF FOUND THEN
                    IF fleet.is_lossy THEN
                        UPDATE \(schema).outbox o SET possibly_sent = true
                            WHERE o.id <= fleet.held AND o.journal IN (SELECT u.journal FROM \(schema).unheard u);
                    END IF;
                    DELETE FROM \(schema).unheard;
                END IF;
                SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy INTO fleet FROM \(schema).fleet f;
            END IF;
        """
    }

    static func claimingOutOfDoubt(_ schema: String) -> [String] {
        claimingOutOfDoubt(schema, replacing: false, declaring: "", holding: holding(schema))
    }

    /// - Parameters:
    ///   - replacing: whether a version before has it.
    ///   - declared: further variables, each on a line of its own.
    ///   - holding: statements that read what is held.
    static func claimingOutOfDoubt(
        _ schema: String, replacing: Bool, declaring declared: String, holding: String
    ) -> [String] {
        claiming(schema, replacing: replacing, declaring: declared, holding: holding)
            + reclaiming(schema, replacing: replacing, declaring: declared, holding: holding)
    }

    /// - Parameters:
    ///   - argument: a further one of the function, behind a comma.
    ///   - now: the time by which what is scheduled is due.
    static func claiming(
        _ schema: String, argument: String = "", replacing: Bool, declaring declared: String, holding: String,
        now: String = "now()"
    ) -> [String] {
        let isDue =
            "o.slot = \(scheduledSlot) AND o.journal IS NULL AND o.deliver_after < \(now) + interval '30 seconds' "
            + "AND o.id > fleet.held"
        let isFree = "o.slot < \(scheduledSlot) AND o.journal IS NULL AND o.id > fleet.held"
        return function(
            schema, "claim_outbox(of_journal int4, of_epoch int8, most int4, hold_milliseconds int8\(argument))",
            returns: grownTable, replacing: replacing,
            """
            #variable_conflict use_column
            DECLARE
                ids int8[];
                first int8;
                passed int8;
                fleet record;\(declared)
            BEGIN
            \(holding)
            \(indexesOnly)
                SELECT o.id INTO first FROM \(schema).outbox o WHERE \(isFree) ORDER BY o.id LIMIT 1;
                IF first IS NULL AND NOT EXISTS (SELECT FROM \(schema).outbox o WHERE \(isDue)) THEN RETURN; END IF;
            \(owning(schema))
                ids := ARRAY(SELECT o.id FROM \(schema).outbox o WHERE \(isDue)
                        ORDER BY o.deliver_after LIMIT most FOR UPDATE SKIP LOCKED)
                    || ARRAY(SELECT o.id FROM \(schema).outbox o WHERE \(isFree) AND o.id >= first
                        ORDER BY o.id LIMIT most FOR UPDATE SKIP LOCKED);
                ids := ids[1:most];
                RETURN QUERY UPDATE \(schema).outbox o SET journal = of_journal, possibly_sent = o.possibly_sent
                        OR o.id <= fleet.doubtful AND NOT (\(isLater(than: "fleet.doubtful_since")))
                    WHERE o.id = ANY(ids) RETURNING \(grownValues);
            END
            """)
    }

    /// What the journal has claimed, by this owner or one before, as `claimed_outbox` does; unless nobody can know yet what became
    /// of it.
    private static func reclaiming(
        _ schema: String, replacing: Bool, declaring declared: String, holding: String
    ) -> [String] {
        function(
            schema,
            "reclaim_outbox(of_journal int4, of_epoch int8, after_id int8, most int4, hold_milliseconds int8)",
            returns: grownTable, replacing: replacing,
            """
            #variable_conflict use_column
            DECLARE
                passed int8;
                fleet record;\(declared)
            BEGIN
            \(owning(schema))
            \(holding)
                IF fleet.held > 0 AND EXISTS (SELECT FROM \(schema).unheard u WHERE u.journal = of_journal)
                    AND EXISTS (SELECT FROM \(schema).outbox o WHERE o.journal = of_journal AND o.id <= fleet.held)
                THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF015', MESSAGE = 'the database has changed, and the former '
                        || 'owner of the journal has not said yet which submissions by SQL it has: they wait, at most 20 s';
                END IF;
                RETURN QUERY SELECT \(grownValues) FROM \(schema).outbox o
                    WHERE o.journal = of_journal AND o.id > after_id ORDER BY o.id LIMIT most;
            END
            """)
    }

    /// For programs of version 7. What is in doubt is left to a program that tells it.
    static func claimingAsBefore(_ schema: String) -> [String] {
        let columns = claimedTable.dropFirst("TABLE (".count).dropLast().split(separator: ", ")
            .map { "c.\($0.split(separator: " ")[0])" }.joined(separator: ", ")
        return function(
            schema, "claim_outbox(of_journal int4, of_epoch int8, most int4)", returns: claimedTable, replacing: true,
            """
            BEGIN
                RETURN QUERY SELECT \(columns) FROM \(schema).claim_outbox(of_journal, of_epoch, most, 20000) c
                    WHERE NOT c.possibly_sent;
            END
            """)
            + function(
                schema, "claimed_outbox(of_journal int4, of_epoch int8, after_id int8, most int4)",
                returns: claimedTable, replacing: true,
                """
                #variable_conflict use_column
                BEGIN
                \(owning(schema))
                    RETURN QUERY SELECT \(claimedValues) FROM \(schema).outbox o
                        WHERE o.journal = of_journal AND o.id > after_id AND NOT o.possibly_sent ORDER BY o.id LIMIT most;
                END
                """)
    }

    /// What may have been taken is not to be cancelled any more.
    ///
    /// - Parameter first: statements before all others, from a new line on.
    static func cancellingOutOfDoubt(_ schema: String, first: String = "") -> [String] {
        function(
            schema, "cancel", arguments: "id uuid", types: "uuid", returns: "bool", replacing: true,
            """
            BEGIN\(first)
                PERFORM \(schema).look_at_fleet();
                DELETE FROM \(schema).outbox o USING \(schema).fleet f WHERE o.apns_id = cancel.id AND o.journal IS NULL
                    AND NOT (o.id <= f.held AND NOT (\(isLater(than: "f.since"))))
                    AND NOT (o.id <= f.doubtful AND NOT (\(isLater(than: "f.doubtful_since"))));
                RETURN FOUND;
            END
            """)
    }
}
