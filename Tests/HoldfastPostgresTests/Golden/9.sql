BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 8 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 8',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
CREATE TABLE "holdfast".orders (
    number int8 PRIMARY KEY,
    stamp uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid(),
    subject text,
    target bytea,
    is_pause bool NOT NULL,
    reason text NOT NULL,
    ordered_by text NOT NULL,
    ordered_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
CREATE FUNCTION "holdfast".give_order(of_subject text, of_target bytea, as_pause bool, why text, who text) RETURNS TABLE (number int8, ended int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    next int8;
BEGIN
    IF of_subject NOT IN ('lanes', 'tags') OR as_pause AND of_subject = 'tags' AND of_target IS NULL
        OR octet_length(of_target) NOT BETWEEN 1 AND 512 OR octet_length(why) > 1024 OR octet_length(who) > 256
    THEN
        RAISE EXCEPTION USING ERRCODE = 'HF013', MESSAGE = 'the order is too large, or about nothing';
    END IF;
    LOCK TABLE "holdfast".orders IN SHARE ROW EXCLUSIVE MODE;
    SELECT coalesce(max(o.number), 0) + 1 INTO next FROM "holdfast".orders o;
    WITH replaced AS (
        UPDATE "holdfast".orders o SET subject = NULL, target = NULL, reason = '', ordered_by = ''
        WHERE o.subject = of_subject AND (of_target IS NULL OR o.target = of_target
            OR of_subject = 'lanes' AND substring(o.target FROM 1 FOR octet_length(of_target) + 1) = of_target || '/'::bytea)
        RETURNING o.is_pause)
    SELECT count(*) INTO ended FROM replaced r WHERE r.is_pause;
    INSERT INTO "holdfast".orders (number, subject, target, is_pause, reason, ordered_by)
        VALUES (next, of_subject, of_target, as_pause, why, concat_ws(', ', nullif(who, ''), 'role ' || session_user));
    IF (SELECT count(*) FROM "holdfast".orders o WHERE o.subject = of_subject AND (o.is_pause OR EXISTS (SELECT FROM "holdfast".orders p WHERE p.subject = 'lanes' AND p.is_pause
            AND o.subject = 'lanes' AND p.number < o.number AND (p.target IS NULL OR substring(o.target FROM 1 FOR octet_length(p.target) + 1) = p.target || '/'::bytea)))) > 64 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF016', MESSAGE = format(
            '%s orders about %s are in force in the fleet, and no more can be', 64, of_subject);
    END IF;
    DELETE FROM "holdfast".orders o
        WHERE o.number <= next - 1000 AND (o.subject IS NULL OR NOT (o.is_pause OR EXISTS (SELECT FROM "holdfast".orders p WHERE p.subject = 'lanes' AND p.is_pause
            AND o.subject = 'lanes' AND p.number < o.number AND (p.target IS NULL OR substring(o.target FROM 1 FOR octet_length(p.target) + 1) = p.target || '/'::bytea))));
    PERFORM pg_notify('holdfast_commands', '');
    number := next;
    RETURN NEXT;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".give_order(of_subject text, of_target bytea, as_pause bool, why text, who text) FROM PUBLIC;
CREATE FUNCTION "holdfast".last_order() RETURNS TABLE (number int8, stamp uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT o.number, o.stamp FROM "holdfast".orders o ORDER BY o.number DESC LIMIT 1;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".last_order() FROM PUBLIC;
CREATE FUNCTION "holdfast".read_orders() RETURNS TABLE (number int8, stamp uuid, subject text, target bytea, is_pause bool, reason text, ordered_by text, ordered_at int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT o.number, o.stamp, o.subject, o.target, o.is_pause, o.reason, o.ordered_by,
        floor(extract(epoch FROM o.ordered_at) * 1000)::int8 FROM "holdfast".orders o ORDER BY o.number;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".read_orders() FROM PUBLIC;
ALTER TABLE "holdfast".journals ADD COLUMN freed_at timestamptz;
CREATE FUNCTION "holdfast".note_release() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.freed_at := clock_timestamp();
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".note_release() FROM PUBLIC;
CREATE TRIGGER note_release BEFORE UPDATE OF session_pid ON "holdfast".journals FOR EACH ROW
    WHEN (NEW.session_pid IS NULL AND OLD.session_pid IS NOT NULL) EXECUTE FUNCTION "holdfast".note_release();
CREATE FUNCTION "holdfast".list_releases() RETURNS TABLE (id int4, seconds int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT j.id, extract(epoch FROM clock_timestamp() - j.freed_at)::int8
        FROM "holdfast".journals j WHERE j.session_pid IS NULL AND j.freed_at IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".list_releases() FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (9, 7);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 9 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 9',
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
GRANT EXECUTE ON FUNCTION "holdfast".look_at_fleet() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".list_ownerships() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".note_ownerships(int4, int8, int8[], uuid[]) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".claim_journal(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".take_journal(int4, int8, int8, text, timestamptz, int8, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".claim_outbox(int4, int8, int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".reclaim_outbox(int4, int8, int8, int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".hear_journal(int4, uuid, text) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".claim_taken(int4, int8[], int8[], bool) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".last_order() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".give_order(text, bytea, bool, text, text) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".read_orders() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".list_releases() TO "service";
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 9 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 9',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
