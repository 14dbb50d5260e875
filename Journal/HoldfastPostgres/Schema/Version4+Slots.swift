extension Migration {
    /// The partition that is filled, before another takes its place.
    private static let slotByteCount = 8 << 20

    /// Truncates a partition that was emptied, and has another one filled where the present one is large: so rows that are
    /// gone take bounded room, however long a transaction elsewhere keeps them from being vacuumed. A partition that such a
    /// transaction has written to itself is left alone.
    static func turning(_ schema: String) -> [String] {
        function(
            schema, "turn_slots()", returns: "bool",
            """
            DECLARE
                present record;
                of_table text;
                is_empty bool;
                empty int2;
                turned bool := false;
            BEGIN
                IF NOT pg_try_advisory_xact_lock(hashtextextended('holdfast slots ' || '\(unquoted(schema))', 0)) THEN
                    RETURN false;
                END IF;
                PERFORM set_config('lock_timeout', '20ms', true);
                FOR present IN SELECT t.name, t.slot FROM \(schema).slots t ORDER BY t.name LOOP
                    empty := NULL;
                    FOR of_slot IN 0..\(slotCount - 1) LOOP
                        of_table := format('\(schema).%s_%s', present.name, of_slot);
                        CONTINUE WHEN of_slot = present.slot;
                        IF pg_relation_size(of_table::regclass) > 0 THEN
                            EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', of_table) INTO is_empty;
                            CONTINUE WHEN NOT is_empty;
                            BEGIN
                                EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', of_table);
                                EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', of_table) INTO is_empty;
                                CONTINUE WHEN NOT is_empty;
                                EXECUTE 'TRUNCATE ' || of_table;
                                turned := true;
                            EXCEPTION WHEN lock_not_available THEN CONTINUE;
                            END;
                        END IF;
                        empty := of_slot;
                    END LOOP;
                    of_table := format('\(schema).%s_%s', present.name, present.slot);
                    IF empty IS NOT NULL AND pg_table_size(of_table::regclass) > \(slotByteCount) THEN
                        UPDATE \(schema).slots t SET slot = empty WHERE t.name = present.name;
                        turned := true;
                    END IF;
                END LOOP;
                RETURN turned;
            END
            """)
    }

    static func unquoted(_ schema: String) -> String { schema.replacing("\"", with: "") }
}
