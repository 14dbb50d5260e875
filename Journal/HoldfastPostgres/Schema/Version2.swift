extension Migration {
    /// The log of what commits changed: see ManyMachines.md.
    ///
    /// Each journal has two slots, each of a log and a checkpoint. Commits go to the log of `journals.slot`, and have numbers
    /// above `base`. The last complete checkpoint is in `checkpoint_slot`; another one is being made while that is not `slot`.
    static let version2 = Migration(
        version: 2, readableFrom: 1,
        functions: [
            "keep_commit(int4, int8, int8, bytea[])", "begin_checkpoint(int4, int8)",
            "put_chunk(int4, int8, int4, bytea[])", "end_checkpoint(int4, int8, int8, bytea, int4)",
            "trim_log(int4, int8)", "fence_log(int4, int8)", "log_state(int4, int8)",
            "read_log(int4, int8, int4, int8)",
            "read_checkpoint(int4, int8, int4, int4, int8)",
        ]
    ) { schema in
        logColumns(schema) + creating(schema) + keeping(schema) + checkpoints(schema) + reading(schema)
    }

    /// A new journal has the checkpoint of nothing.
    private static func logColumns(_ schema: String) -> [String] {
        [
            """
            ALTER TABLE \(schema).journals
                ADD COLUMN slot int2 NOT NULL DEFAULT 0,
                ADD COLUMN base int8 NOT NULL DEFAULT 0,
                ADD COLUMN checkpoint_slot int2 NOT NULL DEFAULT 0,
                ADD COLUMN checkpoint_number int8 NOT NULL DEFAULT 0,
                ADD COLUMN checkpoint_sum bytea NOT NULL DEFAULT '',
                ADD COLUMN checkpoint_chunks int4 NOT NULL DEFAULT 0
            """
        ]
    }

    /// Statements that make the tables of the journal in the variable `found`.
    ///
    /// A part of up to 8,120 bytes lies in its page as it is. Nothing is updated or deleted, so nothing is to be vacuumed.
    static func logTables(_ schema: String) -> String {
        let tables = [("log", "number int8"), ("checkpoint", "chunk int4")].map { table, key in
            let first = key.split(separator: " ")[0]
            return """
                        EXECUTE format('CREATE TABLE \(schema).\(table)_%s_%s (\(key), part int4, bytes bytea NOT NULL,
                            PRIMARY KEY (\(first), part)) WITH (toast_tuple_target = 8160, autovacuum_enabled = off,
                            toast.autovacuum_enabled = off)', found, of_slot);
                        EXECUTE format('ALTER TABLE \(schema).\(table)_%s_%s ALTER COLUMN bytes SET STORAGE EXTERNAL',
                            found, of_slot);
                """
        }
        return """
                FOR of_slot IN 0..1 LOOP
            \(tables.joined(separator: "\n"))
                END LOOP;
            """
    }

    private static func creating(_ schema: String) -> [String] {
        [
            """
            DO $$
            DECLARE
                found int4;
            BEGIN
                FOR found IN SELECT id FROM \(schema).journals LOOP
            \(logTables(schema))
                END LOOP;
            END
            $$
            """
        ]
            + function(
                schema, "create_journal(of_name text)", returns: "int4", replacing: true,
                """
                DECLARE
                    found int4;
                BEGIN
                    SELECT j.id INTO found FROM \(schema).journals j WHERE j.name = of_name;
                    IF found IS NOT NULL THEN RETURN found; END IF;
                    INSERT INTO \(schema).journals (name) VALUES (of_name) ON CONFLICT (name) DO NOTHING RETURNING id INTO found;
                    IF found IS NULL THEN
                        SELECT j.id INTO found FROM \(schema).journals j WHERE j.name = of_name;
                        RETURN found;
                    END IF;
                    INSERT INTO \(schema).beats (journal, epoch, n) VALUES (found, 0, 0);
                \(logTables(schema))
                    RETURN found;
                END
                """)
    }

    /// Whether the commit had been kept before. The lock is the fence, and makes a repeat wait for what the first try wrote:
    /// without it, a repeat would be answered while the standby lacks the commit.
    private static func keeping(_ schema: String) -> [String] {
        function(
            schema, "keep_commit(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[])", returns: "bool",
            """
            DECLARE
                of_slot int2;
                last int8;
                made int8 := 0;
                kept bytea[];
            BEGIN
                SELECT j.slot, j.base INTO of_slot, last
                    FROM \(schema).journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
                END IF;
                EXECUTE format('SELECT coalesce(max(number), $1) FROM \(schema).log_%s_%s', of_journal, of_slot)
                    INTO last USING last;
                IF of_number NOT BETWEEN 1 AND last + 1 OR cardinality(of_parts) = 0 THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF003',
                        MESSAGE = format('the log ends with commit %s, and %s does not follow it', last, of_number);
                END IF;
                IF of_number = last + 1 THEN
                    EXECUTE format('INSERT INTO \(schema).log_%s_%s (number, part, bytes)
                        SELECT $1, p.part - 1, p.bytes FROM unnest($2) WITH ORDINALITY AS p(bytes, part)
                        ON CONFLICT DO NOTHING', of_journal, of_slot) USING of_number, of_parts;
                    GET DIAGNOSTICS made = ROW_COUNT;
                    IF made = cardinality(of_parts) THEN RETURN false; END IF;
                END IF;
                EXECUTE format('SELECT array_agg(r.bytes ORDER BY r.part) FROM (
                    SELECT part, bytes FROM \(schema).log_%1$s_0 WHERE number = $1
                    UNION ALL SELECT part, bytes FROM \(schema).log_%1$s_1 WHERE number = $1) r', of_journal)
                    INTO kept USING of_number;
                IF made > 0 OR kept IS DISTINCT FROM of_parts THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF002',
                        MESSAGE = format('commit %s in the log is another one than this', of_number);
                END IF;
                RETURN true;
            END
            """)
    }
}
