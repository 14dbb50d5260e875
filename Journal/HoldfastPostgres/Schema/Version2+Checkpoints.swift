extension Migration {
    static func checkpoints(_ schema: String) -> [String] {
        beginning(schema) + chunks(schema) + ending(schema) + trimming(schema)
    }

    /// Reads the columns of the journal's row into variables, if its owner asks.
    private static func owned(_ schema: String, _ columns: String, lock: String) -> String {
        """
            SELECT \(columns.split(separator: ", ").map { "j.\($0)" }.joined(separator: ", ")) INTO own
                FROM \(schema).journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR \(lock);
            IF NOT FOUND THEN
                RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
            END IF;
        """
    }

    private static func refusal(_ message: String) -> String {
        "RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = \(message);"
    }

    /// Turns the slot, unless a checkpoint that was begun is still to be made. The lock waits for commits under way.
    ///
    /// Returns the last commit before the slot: a checkpoint must have it.
    private static func beginning(_ schema: String) -> [String] {
        function(
            schema, "begin_checkpoint(of_journal int4, of_epoch int8)", returns: "int8",
            """
            DECLARE
                own record;
                last int8;
                is_full bool;
            BEGIN
            \(owned(schema, "slot, base, checkpoint_slot", lock: "UPDATE"))
                IF own.slot = own.checkpoint_slot THEN
                    EXECUTE format('SELECT EXISTS (SELECT FROM \(schema).log_%1$s_%2$s)
                        OR EXISTS (SELECT FROM \(schema).checkpoint_%1$s_%2$s)', of_journal, 1 - own.slot) INTO is_full;
                ELSE
                    EXECUTE format('SELECT EXISTS (SELECT FROM \(schema).checkpoint_%s_%s)', of_journal, own.slot)
                        INTO is_full;
                END IF;
                IF is_full THEN
                    \(refusal("'the log is not trimmed yet'"))
                END IF;
                IF own.slot <> own.checkpoint_slot THEN RETURN own.base; END IF;
                EXECUTE format('SELECT coalesce(max(number), $1) FROM \(schema).log_%s_%s', of_journal, own.slot)
                    INTO last USING own.base;
                UPDATE \(schema).journals j SET slot = 1 - j.slot, base = last WHERE j.id = of_journal;
                RETURN last;
            END
            """)
    }

    /// Chunks have no gaps, so that the last one tells how many there are.
    private static func chunks(_ schema: String) -> [String] {
        function(
            schema, "put_chunk(of_journal int4, of_epoch int8, of_chunk int4, of_parts bytea[])", returns: "void",
            """
            DECLARE
                own record;
                next int4;
            BEGIN
            \(owned(schema, "slot, checkpoint_slot", lock: "SHARE"))
                IF own.slot = own.checkpoint_slot THEN
                    \(refusal("'no checkpoint was begun'"))
                END IF;
                EXECUTE format('SELECT coalesce(max(chunk) + 1, 0) FROM \(schema).checkpoint_%s_%s', of_journal, own.slot)
                    INTO next;
                IF of_chunk <> next THEN
                    \(refusal("format('the next chunk is %s, not %s', next, of_chunk)"))
                END IF;
                EXECUTE format('INSERT INTO \(schema).checkpoint_%s_%s (chunk, part, bytes)
                    SELECT $1, p.part - 1, p.bytes FROM unnest($2) WITH ORDINALITY AS p(bytes, part)',
                    of_journal, own.slot) USING of_chunk, of_parts;
            END
            """)
    }

    /// May be repeated. From then on the other slot is needless.
    private static func ending(_ schema: String) -> [String] {
        function(
            schema, "end_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4)",
            returns: "void",
            """
            DECLARE
                own record;
                last int8;
                chunks int4;
            BEGIN
            \(owned(
                schema, "slot, base, checkpoint_slot, checkpoint_number, checkpoint_sum, checkpoint_chunks", lock: "UPDATE"))
                IF own.slot = own.checkpoint_slot THEN
                    IF (own.checkpoint_number, own.checkpoint_sum, own.checkpoint_chunks) = (of_number, of_sum, of_chunks) THEN
                        RETURN;
                    END IF;
                    \(refusal("'no checkpoint was begun'"))
                END IF;
                EXECUTE format('SELECT coalesce(max(number), $1) FROM \(schema).log_%s_%s', of_journal, own.slot)
                    INTO last USING own.base;
                IF of_number NOT BETWEEN own.base AND last THEN
                    \(refusal("format('a checkpoint is of commit %s to %s, not %s', own.base, last, of_number)"))
                END IF;
                EXECUTE format('SELECT coalesce(max(chunk) + 1, 0) FROM \(schema).checkpoint_%s_%s', of_journal, own.slot)
                    INTO chunks;
                IF of_chunks <> chunks THEN
                    \(refusal("format('the checkpoint has %s chunks, not %s', chunks, of_chunks)"))
                END IF;
                UPDATE \(schema).journals j SET checkpoint_slot = j.slot, checkpoint_number = of_number,
                    checkpoint_sum = of_sum, checkpoint_chunks = of_chunks WHERE j.id = of_journal;
            END
            """)
    }

    /// Empties what nobody needs: the slot before the last complete checkpoint, or a checkpoint that was begun. Gives up, with
    /// 55P03, where somebody still reads it.
    private static func trimming(_ schema: String) -> [String] {
        function(
            schema, "trim_log(of_journal int4, of_epoch int8)", returns: "bool",
            """
            DECLARE
                own record;
                tables text[];
                of_table text;
                is_trimmed bool := false;
            BEGIN
            \(owned(schema, "slot, checkpoint_slot", lock: "SHARE"))
                IF own.slot = own.checkpoint_slot THEN
                    tables := ARRAY[format('\(schema).log_%s_%s', of_journal, 1 - own.slot),
                        format('\(schema).checkpoint_%s_%s', of_journal, 1 - own.slot)];
                ELSE
                    tables := ARRAY[format('\(schema).checkpoint_%s_%s', of_journal, own.slot)];
                END IF;
                PERFORM set_config('lock_timeout', '200ms', true);
                FOREACH of_table IN ARRAY tables LOOP
                    CONTINUE WHEN pg_relation_size(of_table::regclass) = 0;
                    EXECUTE 'TRUNCATE ' || of_table;
                    is_trimmed := true;
                END LOOP;
                RETURN is_trimmed;
            END
            """)
    }
}
