BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 1',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
ALTER TABLE "holdfast".journals
    ADD COLUMN slot int2 NOT NULL DEFAULT 0,
    ADD COLUMN base int8 NOT NULL DEFAULT 0,
    ADD COLUMN checkpoint_slot int2 NOT NULL DEFAULT 0,
    ADD COLUMN checkpoint_number int8 NOT NULL DEFAULT 0,
    ADD COLUMN checkpoint_sum bytea NOT NULL DEFAULT '',
    ADD COLUMN checkpoint_chunks int4 NOT NULL DEFAULT 0;
DO $$
DECLARE
    found int4;
BEGIN
    FOR found IN SELECT id FROM "holdfast".journals LOOP
    FOR of_slot IN 0..1 LOOP
        EXECUTE format('CREATE TABLE "holdfast".log_%s_%s (number int8, part int4, bytes bytea NOT NULL,
            PRIMARY KEY (number, part)) WITH (toast_tuple_target = 8160, autovacuum_enabled = off,
            toast.autovacuum_enabled = off)', found, of_slot);
        EXECUTE format('ALTER TABLE "holdfast".log_%s_%s ALTER COLUMN bytes SET STORAGE EXTERNAL',
            found, of_slot);
        EXECUTE format('CREATE TABLE "holdfast".checkpoint_%s_%s (chunk int4, part int4, bytes bytea NOT NULL,
            PRIMARY KEY (chunk, part)) WITH (toast_tuple_target = 8160, autovacuum_enabled = off,
            toast.autovacuum_enabled = off)', found, of_slot);
        EXECUTE format('ALTER TABLE "holdfast".checkpoint_%s_%s ALTER COLUMN bytes SET STORAGE EXTERNAL',
            found, of_slot);
    END LOOP;
    END LOOP;
END
$$;
CREATE OR REPLACE FUNCTION "holdfast".create_journal(of_name text) RETURNS int4
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found int4;
BEGIN
    SELECT j.id INTO found FROM "holdfast".journals j WHERE j.name = of_name;
    IF found IS NOT NULL THEN RETURN found; END IF;
    INSERT INTO "holdfast".journals (name) VALUES (of_name) ON CONFLICT (name) DO NOTHING RETURNING id INTO found;
    IF found IS NULL THEN
        SELECT j.id INTO found FROM "holdfast".journals j WHERE j.name = of_name;
        RETURN found;
    END IF;
    INSERT INTO "holdfast".beats (journal, epoch, n) VALUES (found, 0, 0);
    FOR of_slot IN 0..1 LOOP
        EXECUTE format('CREATE TABLE "holdfast".log_%s_%s (number int8, part int4, bytes bytea NOT NULL,
            PRIMARY KEY (number, part)) WITH (toast_tuple_target = 8160, autovacuum_enabled = off,
            toast.autovacuum_enabled = off)', found, of_slot);
        EXECUTE format('ALTER TABLE "holdfast".log_%s_%s ALTER COLUMN bytes SET STORAGE EXTERNAL',
            found, of_slot);
        EXECUTE format('CREATE TABLE "holdfast".checkpoint_%s_%s (chunk int4, part int4, bytes bytea NOT NULL,
            PRIMARY KEY (chunk, part)) WITH (toast_tuple_target = 8160, autovacuum_enabled = off,
            toast.autovacuum_enabled = off)', found, of_slot);
        EXECUTE format('ALTER TABLE "holdfast".checkpoint_%s_%s ALTER COLUMN bytes SET STORAGE EXTERNAL',
            found, of_slot);
    END LOOP;
    RETURN found;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".create_journal(of_name text) FROM PUBLIC;
CREATE FUNCTION "holdfast".keep_commit(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[]) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of_slot int2;
    last int8;
    made int8 := 0;
    kept bytea[];
BEGIN
    SELECT j.slot, j.base INTO of_slot, last
        FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    EXECUTE format('SELECT coalesce(max(number), $1) FROM "holdfast".log_%s_%s', of_journal, of_slot)
        INTO last USING last;
    IF of_number NOT BETWEEN 1 AND last + 1 OR cardinality(of_parts) = 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF003',
            MESSAGE = format('the log ends with commit %s, and %s does not follow it', last, of_number);
    END IF;
    IF of_number = last + 1 THEN
        EXECUTE format('INSERT INTO "holdfast".log_%s_%s (number, part, bytes)
            SELECT $1, p.part - 1, p.bytes FROM unnest($2) WITH ORDINALITY AS p(bytes, part)
            ON CONFLICT DO NOTHING', of_journal, of_slot) USING of_number, of_parts;
        GET DIAGNOSTICS made = ROW_COUNT;
        IF made = cardinality(of_parts) THEN RETURN false; END IF;
    END IF;
    EXECUTE format('SELECT array_agg(r.bytes ORDER BY r.part) FROM (
        SELECT part, bytes FROM "holdfast".log_%1$s_0 WHERE number = $1
        UNION ALL SELECT part, bytes FROM "holdfast".log_%1$s_1 WHERE number = $1) r', of_journal)
        INTO kept USING of_number;
    IF made > 0 OR kept IS DISTINCT FROM of_parts THEN
        RAISE EXCEPTION USING ERRCODE = 'HF002',
            MESSAGE = format('commit %s in the log is another one than this', of_number);
    END IF;
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".keep_commit(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[]) FROM PUBLIC;
CREATE FUNCTION "holdfast".begin_checkpoint(of_journal int4, of_epoch int8) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    last int8;
    is_full bool;
BEGIN
    SELECT j.slot, j.base, j.checkpoint_slot INTO own
        FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    IF own.slot = own.checkpoint_slot THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM "holdfast".log_%1$s_%2$s)
            OR EXISTS (SELECT FROM "holdfast".checkpoint_%1$s_%2$s)', of_journal, 1 - own.slot) INTO is_full;
    ELSE
        EXECUTE format('SELECT EXISTS (SELECT FROM "holdfast".checkpoint_%s_%s)', of_journal, own.slot)
            INTO is_full;
    END IF;
    IF is_full THEN
        RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the log is not trimmed yet';
    END IF;
    IF own.slot <> own.checkpoint_slot THEN RETURN own.base; END IF;
    EXECUTE format('SELECT coalesce(max(number), $1) FROM "holdfast".log_%s_%s', of_journal, own.slot)
        INTO last USING own.base;
    UPDATE "holdfast".journals j SET slot = 1 - j.slot, base = last WHERE j.id = of_journal;
    RETURN last;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".begin_checkpoint(of_journal int4, of_epoch int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".put_chunk(of_journal int4, of_epoch int8, of_chunk int4, of_parts bytea[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    next int4;
BEGIN
    SELECT j.slot, j.checkpoint_slot INTO own
        FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    IF own.slot = own.checkpoint_slot THEN
        RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'no checkpoint was begun';
    END IF;
    EXECUTE format('SELECT coalesce(max(chunk) + 1, 0) FROM "holdfast".checkpoint_%s_%s', of_journal, own.slot)
        INTO next;
    IF of_chunk <> next THEN
        RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = format('the next chunk is %s, not %s', next, of_chunk);
    END IF;
    EXECUTE format('INSERT INTO "holdfast".checkpoint_%s_%s (chunk, part, bytes)
        SELECT $1, p.part - 1, p.bytes FROM unnest($2) WITH ORDINALITY AS p(bytes, part)',
        of_journal, own.slot) USING of_chunk, of_parts;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".put_chunk(of_journal int4, of_epoch int8, of_chunk int4, of_parts bytea[]) FROM PUBLIC;
CREATE FUNCTION "holdfast".end_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    last int8;
    chunks int4;
BEGIN
    SELECT j.slot, j.base, j.checkpoint_slot, j.checkpoint_number, j.checkpoint_sum, j.checkpoint_chunks INTO own
        FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    IF own.slot = own.checkpoint_slot THEN
        IF (own.checkpoint_number, own.checkpoint_sum, own.checkpoint_chunks) = (of_number, of_sum, of_chunks) THEN
            RETURN;
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'no checkpoint was begun';
    END IF;
    EXECUTE format('SELECT coalesce(max(number), $1) FROM "holdfast".log_%s_%s', of_journal, own.slot)
        INTO last USING own.base;
    IF of_number NOT BETWEEN own.base AND last THEN
        RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = format('a checkpoint is of commit %s to %s, not %s', own.base, last, of_number);
    END IF;
    EXECUTE format('SELECT coalesce(max(chunk) + 1, 0) FROM "holdfast".checkpoint_%s_%s', of_journal, own.slot)
        INTO chunks;
    IF of_chunks <> chunks THEN
        RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = format('the checkpoint has %s chunks, not %s', chunks, of_chunks);
    END IF;
    UPDATE "holdfast".journals j SET checkpoint_slot = j.slot, checkpoint_number = of_number,
        checkpoint_sum = of_sum, checkpoint_chunks = of_chunks WHERE j.id = of_journal;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".end_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4) FROM PUBLIC;
CREATE FUNCTION "holdfast".trim_log(of_journal int4, of_epoch int8) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    tables text[];
    of_table text;
    is_trimmed bool := false;
BEGIN
    SELECT j.slot, j.checkpoint_slot INTO own
        FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    IF own.slot = own.checkpoint_slot THEN
        tables := ARRAY[format('"holdfast".log_%s_%s', of_journal, 1 - own.slot),
            format('"holdfast".checkpoint_%s_%s', of_journal, 1 - own.slot)];
    ELSE
        tables := ARRAY[format('"holdfast".checkpoint_%s_%s', of_journal, own.slot)];
    END IF;
    PERFORM set_config('lock_timeout', '200ms', true);
    FOREACH of_table IN ARRAY tables LOOP
        CONTINUE WHEN pg_relation_size(of_table::regclass) = 0;
        EXECUTE 'TRUNCATE ' || of_table;
        is_trimmed := true;
    END LOOP;
    RETURN is_trimmed;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".trim_log(of_journal int4, of_epoch int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".fence_log(of_journal int4, of_epoch int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".fence_log(of_journal int4, of_epoch int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".log_state(of_journal int4, of_number int8) RETURNS TABLE (last int8, checkpoint_number int8, checkpoint_sum bytea, checkpoint_chunks int4, log_bytes int8,
    checkpoint_bytes int8, is_trimmed bool, sum bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    sizes int8[];
BEGIN
    SELECT * INTO own FROM "holdfast".journals j WHERE j.id = of_journal;
    IF NOT FOUND THEN RETURN; END IF;
    EXECUTE format('SELECT coalesce(max(number), $1) FROM "holdfast".log_%s_%s', of_journal, own.slot)
        INTO last USING own.base;
    EXECUTE format('SELECT substring(r.bytes FROM 1 FOR 8) FROM (
        SELECT bytes FROM "holdfast".log_%1$s_0 WHERE number = $1 AND part = 0
        UNION ALL SELECT bytes FROM "holdfast".log_%1$s_1 WHERE number = $1 AND part = 0) r', of_journal)
        INTO sum USING of_number;
    checkpoint_number := own.checkpoint_number;
    checkpoint_sum := own.checkpoint_sum;
    checkpoint_chunks := own.checkpoint_chunks;
    SELECT array_agg(pg_relation_size(format('"holdfast".%s_%s_%s', t.name, of_journal, s.slot)::regclass)
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
$$;
REVOKE ALL ON FUNCTION "holdfast".log_state(of_journal int4, of_number int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".read_log(of_journal int4, after_number int8, after_part int4, most_bytes int8) RETURNS TABLE (number int8, part int4, bytes bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    of_slot int2;
    total int8 := 0;
BEGIN
    SELECT * INTO own FROM "holdfast".journals j WHERE j.id = of_journal;
    IF NOT FOUND OR after_number < own.checkpoint_number THEN
        RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = 'the log begins behind this commit';
    END IF;
    PERFORM set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true);
    FOREACH of_slot IN ARRAY ARRAY[1 - own.slot, own.slot] LOOP
        CONTINUE WHEN of_slot <> own.slot AND (own.slot = own.checkpoint_slot OR after_number > own.base);
        FOR number, part, bytes IN EXECUTE format('SELECT number, part, bytes FROM "holdfast".log_%s_%s
            WHERE (number, part) > ($1, $2) ORDER BY number, part', of_journal, of_slot)
            USING after_number, after_part
        LOOP
            RETURN NEXT;
            total := total + length(bytes);
            IF total >= most_bytes THEN RETURN; END IF;
        END LOOP;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".read_log(of_journal int4, after_number int8, after_part int4, most_bytes int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".read_checkpoint(of_journal int4, of_number int8, after_chunk int4, after_part int4, most_bytes int8) RETURNS TABLE (chunk int4, part int4, bytes bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    total int8 := 0;
BEGIN
    SELECT * INTO own FROM "holdfast".journals j WHERE j.id = of_journal;
    IF NOT FOUND OR of_number <> own.checkpoint_number THEN
        RAISE EXCEPTION USING ERRCODE = 'HF005', MESSAGE = 'the checkpoint is another one';
    END IF;
    PERFORM set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true);
    FOR chunk, part, bytes IN EXECUTE format('SELECT chunk, part, bytes FROM "holdfast".checkpoint_%s_%s
        WHERE (chunk, part) > ($1, $2) ORDER BY chunk, part', of_journal, own.checkpoint_slot)
        USING after_chunk, after_part
    LOOP
        RETURN NEXT;
        total := total + length(bytes);
        IF total >= most_bytes THEN RETURN; END IF;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".read_checkpoint(of_journal int4, of_number int8, after_chunk int4, after_part int4, most_bytes int8) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (2, 1);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 2 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 2',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".schema_version() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".create_journal(text) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".look(int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".take_journal(int4, int8, int8, text, timestamptz) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".end_session(int4, timestamptz) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".beat(int4, int8, timestamptz) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".release_journal(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".keep_commit(int4, int8, int8, bytea[]) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".begin_checkpoint(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".put_chunk(int4, int8, int4, bytea[]) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".end_checkpoint(int4, int8, int8, bytea, int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".trim_log(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".fence_log(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".log_state(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".read_log(int4, int8, int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".read_checkpoint(int4, int8, int4, int4, int8) TO "service";
COMMIT;
