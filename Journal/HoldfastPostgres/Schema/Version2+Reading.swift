extension Migration {
    static func reading(_ schema: String) -> [String] { fence(schema) + state(schema) + pages(schema) }

    /// Waits for the commits under way, and for the standby to have them. None of this epoch comes behind it, but from a session
    /// of the same owner.
    private static func fence(_ schema: String) -> [String] {
        function(
            schema, "fence_log(of_journal int4, of_epoch int8)", returns: "void",
            """
            BEGIN
                PERFORM FROM \(schema).journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR UPDATE;
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                END IF;
            END
            """)
    }

    /// - Returns: with the checksum of one commit, if the log has it.
    private static func state(_ schema: String) -> [String] {
        function(
            schema, "log_state(of_journal int4, of_number int8)",
            returns: """
                TABLE (last int8, checkpoint_number int8, checkpoint_sum bytea, checkpoint_chunks int4, log_bytes int8,
                    checkpoint_bytes int8, is_trimmed bool, sum bytea)
                """,
            """
            DECLARE
                own record;
                sizes int8[];
            BEGIN
                SELECT * INTO own FROM \(schema).journals j WHERE j.id = of_journal;
                IF NOT FOUND THEN RETURN; END IF;
                EXECUTE format('SELECT coalesce(max(number), $1) FROM \(schema).log_%s_%s', of_journal, own.slot)
                    INTO last USING own.base;
                EXECUTE format('SELECT substring(r.bytes FROM 1 FOR 8) FROM (
                    SELECT bytes FROM \(schema).log_%1$s_0 WHERE number = $1 AND part = 0
                    UNION ALL SELECT bytes FROM \(schema).log_%1$s_1 WHERE number = $1 AND part = 0) r', of_journal)
                    INTO sum USING of_number;
                checkpoint_number := own.checkpoint_number;
                checkpoint_sum := own.checkpoint_sum;
                checkpoint_chunks := own.checkpoint_chunks;
                SELECT array_agg(pg_relation_size(format('\(schema).%s_%s_%s', t.name, of_journal, s.slot)::regclass)
                    ORDER BY t.name, s.slot) INTO sizes
                    FROM unnest(ARRAY['checkpoint', 'log']) AS t(name), generate_series(0, 1) AS s(slot);
                checkpoint_bytes := sizes[1 + own.checkpoint_slot];
                IF own.slot = own.checkpoint_slot THEN
                    log_bytes := sizes[3 + own.slot];
                    is_trimmed := sizes[2 - own.slot] + sizes[4 - own.slot] = 0;
                ELSE
                    log_bytes := sizes[3] + sizes[4];
                    is_trimmed := sizes[1 + own.slot] = 0;
                END IF;
                RETURN NEXT;
            END
            """)
    }

    /// Rows behind a place, in their order, until they are as long as was wanted, and one at least. The plan is that of the
    /// index, since nobody keeps statistics of the tables.
    private static func pages(_ schema: String) -> [String] {
        function(
            schema, "read_log(of_journal int4, after_number int8, after_part int4, most_bytes int8)",
            returns: "TABLE (number int8, part int4, bytes bytea)",
            """
            DECLARE
                own record;
                of_slot int2;
                total int8 := 0;
            BEGIN
                SELECT * INTO own FROM \(schema).journals j WHERE j.id = of_journal;
                IF NOT FOUND OR after_number < own.checkpoint_number THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = 'the log begins behind this commit';
                END IF;
                PERFORM set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true);
                FOREACH of_slot IN ARRAY ARRAY[1 - own.slot, own.slot] LOOP
                    CONTINUE WHEN of_slot <> own.slot AND (own.slot = own.checkpoint_slot OR after_number > own.base);
                    FOR number, part, bytes IN EXECUTE format('SELECT number, part, bytes FROM \(schema).log_%s_%s
                        WHERE (number, part) > ($1, $2) ORDER BY number, part', of_journal, of_slot)
                        USING after_number, after_part
                    LOOP
                        RETURN NEXT;
                        total := total + length(bytes);
                        IF total >= most_bytes THEN RETURN; END IF;
                    END LOOP;
                END LOOP;
            END
            """)
            + function(
                schema,
                "read_checkpoint(of_journal int4, of_number int8, after_chunk int4, after_part int4, most_bytes int8)",
                returns: "TABLE (chunk int4, part int4, bytes bytea)",
                """
                DECLARE
                    own record;
                    total int8 := 0;
                BEGIN
                    SELECT * INTO own FROM \(schema).journals j WHERE j.id = of_journal;
                    IF NOT FOUND OR of_number <> own.checkpoint_number THEN
                        RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = 'the checkpoint is another one';
                    END IF;
                    PERFORM set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true);
                    FOR chunk, part, bytes IN EXECUTE format('SELECT chunk, part, bytes FROM \(schema).checkpoint_%s_%s
                        WHERE (chunk, part) > ($1, $2) ORDER BY chunk, part', of_journal, own.checkpoint_slot)
                        USING after_chunk, after_part
                    LOOP
                        RETURN NEXT;
                        total := total + length(bytes);
                        IF total >= most_bytes THEN RETURN; END IF;
                    END LOOP;
                END
                """)
    }
}
