BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 5 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 5',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
CREATE TABLE "holdfast".identity_slots (present int2 NOT NULL, began timestamptz[] NOT NULL, key uuid NOT NULL)
    WITH (fillfactor = 50);
INSERT INTO "holdfast".identity_slots
    SELECT 0, pg_catalog.array_fill(pg_catalog.now(), ARRAY[4]), pg_catalog.encode(substring(
        pg_catalog.sha256(pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
            || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())) FROM 1 FOR 16), 'hex')::uuid;
CREATE TABLE "holdfast".identities (
    slot int2 NOT NULL,
    journal int4 NOT NULL,
    uid int8 NOT NULL,
    identity uuid NOT NULL
) PARTITION BY LIST (slot);
CREATE TABLE "holdfast".identities_0 PARTITION OF "holdfast".identities FOR VALUES IN (0)
    WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX ON "holdfast".identities_0 (identity);
CREATE TABLE "holdfast".identities_1 PARTITION OF "holdfast".identities FOR VALUES IN (1)
    WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX ON "holdfast".identities_1 (identity);
CREATE TABLE "holdfast".identities_2 PARTITION OF "holdfast".identities FOR VALUES IN (2)
    WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX ON "holdfast".identities_2 (identity);
CREATE TABLE "holdfast".identities_3 PARTITION OF "holdfast".identities FOR VALUES IN (3)
    WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX ON "holdfast".identities_3 (identity);
CREATE FUNCTION "holdfast".keep_commit_claiming(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[], taken int8[], names uuid[], uids int8[]) RETURNS TABLE (identity uuid, uid int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of_slot int2;
    holder int4;
    own uuid[] := '{}';
    is_repeat bool := false;
    made int8;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    LOCK TABLE "holdfast".identity_slots IN ROW SHARE MODE;
    SELECT t.present INTO of_slot FROM "holdfast".identity_slots t;
    FOR identity, uid, holder IN
        SELECT i.identity, i.uid, i.journal FROM "holdfast".identities i WHERE i.identity = ANY(names)
    LOOP
        IF holder = of_journal THEN
            own := own || identity;
        ELSE
            is_repeat := true;
            RETURN NEXT;
        END IF;
    END LOOP;
    IF is_repeat THEN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
        RETURN;
    END IF;
    IF (CASE WHEN cardinality(taken) = 0 THEN "holdfast".keep_commit(of_journal, of_epoch, of_number, of_parts)
        ELSE "holdfast".keep_commit_taking(of_journal, of_epoch, of_number, of_parts, taken) END) THEN RETURN; END IF;
    IF own <> '{}' THEN
        DELETE FROM "holdfast".identities i WHERE i.identity = ANY(own) AND i.journal = of_journal;
    END IF;
    INSERT INTO "holdfast".identities (slot, journal, identity, uid)
        SELECT of_slot, of_journal, u.identity, u.uid FROM unnest(names, uids) AS u(identity, uid)
        ORDER BY u.identity
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS made = ROW_COUNT;
    IF made <> cardinality(names) THEN
        RAISE EXCEPTION USING ERRCODE = 'HF014', MESSAGE = format(
            'of the %s identities of commit %s, others have claimed %s meanwhile', cardinality(names), of_number,
            cardinality(names) - made);
    END IF;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".keep_commit_claiming(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[], taken int8[], names uuid[], uids int8[]) FROM PUBLIC;
CREATE FUNCTION "holdfast".identity_key() RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT t.key FROM "holdfast".identity_slots t);
END
$$;
REVOKE ALL ON FUNCTION "holdfast".identity_key() FROM PUBLIC;
CREATE FUNCTION "holdfast".turn_identities(age_milliseconds int8, most int8) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    age interval := age_milliseconds * interval '1 millisecond';
    place int2;
    size int8;
    newer int8 := 0;
    old int2[] := '{}';
    next int2;
    next_size int8;
    is_due bool;
    turned bool := false;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('holdfast identities ' || 'holdfast', 0)) THEN
        RETURN false;
    END IF;
    SELECT * INTO own FROM "holdfast".identity_slots;
    next := (own.present + 1) % 4;
    FOR back IN 0..3 LOOP
        place := (own.present + 4 - back) % 4;
        size := pg_relation_size(format('"holdfast".identities_%s', place)::regclass);
        IF back = 0 THEN
            is_due := size > 0 AND (size >= most * 30 OR own.began[place + 1] < now() - age / 2);
        ELSIF size > 0 AND (newer >= most * 60
            OR own.began[(place + 1) % 4 + 1] < now() - age) THEN
            old := old || place;
        END IF;
        newer := newer + greatest(size - 8192, 0);
        IF place = next THEN next_size := size; END IF;
    END LOOP;
    is_due := is_due AND (next_size = 0 OR next = ANY(old));
    IF NOT is_due AND cardinality(old) = 0 THEN RETURN false; END IF;
    PERFORM set_config('lock_timeout', '20ms', true);
    BEGIN
        LOCK TABLE "holdfast".identity_slots IN EXCLUSIVE MODE;
    EXCEPTION WHEN lock_not_available THEN RETURN false;
    END;
    FOREACH place IN ARRAY old LOOP
        BEGIN
            EXECUTE format('TRUNCATE "holdfast".identities_%s', place);
            turned := true;
        EXCEPTION WHEN lock_not_available THEN CONTINUE;
        END;
    END LOOP;
    IF is_due AND pg_relation_size(format('"holdfast".identities_%s', next)::regclass) = 0 THEN
        UPDATE "holdfast".identity_slots t SET present = next, began[next + 1] = now();
        turned := true;
    END IF;
    RETURN turned;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".turn_identities(age_milliseconds int8, most int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".restore_identities(of_journal int4, of_epoch int8, names uuid[], uids int8[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of_slot int2;
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    LOCK TABLE "holdfast".identity_slots IN ROW SHARE MODE;
    SELECT t.present INTO of_slot FROM "holdfast".identity_slots t;
    INSERT INTO "holdfast".identities (slot, journal, identity, uid)
        SELECT of_slot, of_journal, u.identity, u.uid FROM unnest(names, uids) AS u(identity, uid)
        WHERE NOT EXISTS (SELECT FROM "holdfast".identities i WHERE i.identity = u.identity)
        ORDER BY u.identity ON CONFLICT DO NOTHING;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".restore_identities(of_journal int4, of_epoch int8, names uuid[], uids int8[]) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (6, 1);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 6 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 6',
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
GRANT EXECUTE ON FUNCTION "holdfast".list_journals() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".close_journal(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".accept_journal(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".restore_checkpoint(int4, int8, int8, bytea, int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".end_sessions(int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".claim_outbox(int4, int8, int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".claimed_outbox(int4, int8, int8, int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".release_outbox(int4, int8, int8[]) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".keep_commit_taking(int4, int8, int8, bytea[], int8[]) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".settle_outbox(int4, int8, jsonb) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".turn_slots() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".outcome_cursor(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".put_outcomes(int4, int8, int8, int8, jsonb) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".trim_outcomes(interval, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".share_blacklist(uuid, int8, int8[], bytea[], bytea[], int8[], int8[], bytea[]) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".blacklist_state(int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".read_blacklist(int8, int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".trim_blacklist(int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".read_note(text) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".swap_note(text, int8, bytea) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".ask_command(uuid, text, bytea, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".read_answer(uuid) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".withdraw_command(uuid) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".forget_command(uuid) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".claim_commands(int8[], int8[], text, int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".answer_command(uuid, bytea) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".keep_commit_claiming(int4, int8, int8, bytea[], int8[], uuid[], int8[]) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".identity_key() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".turn_identities(int8, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".restore_identities(int4, int8, uuid[], int8[]) TO "service";
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 6 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 6',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
