BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 11 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 11',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
ALTER TABLE "holdfast".claims ADD COLUMN lasting interval NOT NULL DEFAULT '1 minute';
CREATE FUNCTION "holdfast".claim_journal(of_journal int4, of_number int8, lasting_milliseconds int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO "holdfast".claims AS c (journal, number, incarnation, at, lasting)
        SELECT of_journal, of_number, f.incarnation, clock_timestamp(),
            lasting_milliseconds * interval '1 millisecond' FROM "holdfast".fleet f
        WHERE EXISTS (SELECT FROM "holdfast".journals j WHERE j.id = of_journal)
        ON CONFLICT (journal, number) DO UPDATE SET incarnation = excluded.incarnation, at = excluded.at,
            lasting = greatest(excluded.lasting, c.at + c.lasting - excluded.at);
    UPDATE "holdfast".fleet f SET is_lossy = true WHERE f.held > 0 AND NOT f.is_lossy;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_journal(of_journal int4, of_number int8, lasting_milliseconds int8) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".claim_journal(of_journal int4, of_number int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM "holdfast".claim_journal(of_journal, of_number, 60000);
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_journal(of_journal int4, of_number int8) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz, grace_milliseconds int8, own_number int8) RETURNS TABLE (epoch int8, old_pid int4, old_start timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fleet record;
BEGIN
    SELECT l.incarnation, l.milliseconds INTO fleet FROM "holdfast".look_at_fleet() l;
    IF seen_epoch > 0 THEN
        IF fleet.milliseconds BETWEEN 0 AND grace_milliseconds THEN RETURN; END IF;
        IF EXISTS (SELECT FROM "holdfast".claims c WHERE c.journal = of_journal AND c.number > own_number
                AND c.incarnation = fleet.incarnation AND c.at + c.lasting > clock_timestamp()) THEN RETURN; END IF;
    END IF;
    RETURN QUERY SELECT t.epoch, t.old_pid, t.old_start
        FROM "holdfast".take_journal(of_journal, seen_epoch, seen_n, new_host, new_start) t;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz, grace_milliseconds int8, own_number int8) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".may_restore(of_journal int4, of_epoch int8, of_stamp uuid, own_number int8, grace_milliseconds int8) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fleet record;
BEGIN
    SELECT l.incarnation, l.milliseconds INTO fleet FROM "holdfast".look_at_fleet() l;
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    IF of_stamp IS DISTINCT FROM (SELECT o.stamp FROM "holdfast".ownerships o WHERE o.journal = of_journal
            ORDER BY o.first DESC LIMIT 1) OR EXISTS (SELECT FROM "holdfast".claims c WHERE c.journal = of_journal AND c.number > own_number
                AND c.incarnation = fleet.incarnation AND c.at + c.lasting > clock_timestamp())
    THEN
        RETURN 'no';
    END IF;
    RETURN CASE WHEN fleet.milliseconds BETWEEN 0 AND grace_milliseconds THEN 'later' ELSE 'yes' END;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".may_restore(of_journal int4, of_epoch int8, of_stamp uuid, own_number int8, grace_milliseconds int8) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".create_journal(of_name text) RETURNS int4
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found int4;
    drawn int4;
BEGIN
    SELECT j.id INTO found FROM "holdfast".journals j WHERE j.name = of_name;
    IF found IS NOT NULL THEN RETURN found; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('holdfast journals ' || 'holdfast', 0));
    SELECT j.id INTO found FROM "holdfast".journals j WHERE j.name = of_name;
    IF found IS NOT NULL THEN RETURN found; END IF;
    SELECT s.last_value + s.is_called::int INTO found FROM "holdfast".journals_id_seq s;
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
    INSERT INTO "holdfast".journals (name, is_closed) VALUES (of_name, true) RETURNING id INTO drawn;
    IF drawn <> found THEN
        RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = format(
            'somebody else has drawn number %s for a journal meanwhile', found);
    END IF;
    INSERT INTO "holdfast".beats (journal, epoch, n) VALUES (found, 0, 0);
    RETURN found;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".create_journal(of_name text) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".restore_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own record;
    is_full bool;
BEGIN
    SELECT j.slot, j.base, j.checkpoint_slot INTO own
        FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    IF own.slot <> own.checkpoint_slot THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM "holdfast".log_%s_%s)', of_journal, own.slot) INTO is_full;
        IF is_full OR of_number < own.base THEN
            RAISE EXCEPTION USING ERRCODE = 'HF004', MESSAGE = 'the log has commits that the checkpoint lacks';
        END IF;
        UPDATE "holdfast".journals j SET base = of_number WHERE j.id = of_journal;
    END IF;
    PERFORM "holdfast".end_checkpoint(of_journal, of_epoch, of_number, of_sum, of_chunks);
    UPDATE "holdfast".journals j SET is_closed = false WHERE j.id = of_journal AND j.is_closed;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".restore_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (12, 7);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 12 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 12',
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
GRANT EXECUTE ON FUNCTION "holdfast".may_restore(int4, int8, uuid, int8, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".restore_pause(text, text, bytea, text, text, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".check_heard(int4) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".withdraw_order(int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".claim_journal(int4, int8, int8) TO "service";
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 12 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 12',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
