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
CREATE TABLE "holdfast".fleet (id uuid NOT NULL, incarnation text NOT NULL, since timestamptz NOT NULL);
INSERT INTO "holdfast".fleet SELECT pg_catalog.gen_random_uuid(), (SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), d.oid, '"holdfast".fleet'::regclass::oid)
    FROM pg_database d WHERE d.datname = current_database()), 'epoch';
CREATE TABLE "holdfast".ownerships (
    journal int4 NOT NULL REFERENCES "holdfast".journals,
    first int8 NOT NULL,
    stamp uuid NOT NULL,
    PRIMARY KEY (journal, first)
);
CREATE TABLE "holdfast".claims (
    journal int4 NOT NULL REFERENCES "holdfast".journals,
    number int8 NOT NULL,
    incarnation text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (journal, number)
);
CREATE FUNCTION "holdfast".look_at_fleet() RETURNS TABLE (id uuid, incarnation text, milliseconds int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby does not know who owns a journal';
    END IF;
    UPDATE "holdfast".fleet f SET incarnation = (SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), d.oid, '"holdfast".fleet'::regclass::oid)
    FROM pg_database d WHERE d.datname = current_database()), since = clock_timestamp()
        WHERE f.incarnation <> (SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), d.oid, '"holdfast".fleet'::regclass::oid)
    FROM pg_database d WHERE d.datname = current_database());
    RETURN QUERY SELECT f.id, f.incarnation,
        (extract(epoch FROM clock_timestamp() - f.since) * 1000)::int8 FROM "holdfast".fleet f;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".look_at_fleet() FROM PUBLIC;
CREATE FUNCTION "holdfast".list_ownerships() RETURNS TABLE (journal int4, first int8, stamp uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT o.journal, o.first, o.stamp FROM "holdfast".ownerships o ORDER BY o.journal, o.first;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".list_ownerships() FROM PUBLIC;
CREATE FUNCTION "holdfast".note_ownerships(of_journal int4, of_epoch int8, firsts int8[], stamps uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    DELETE FROM "holdfast".ownerships o WHERE o.journal = of_journal;
    INSERT INTO "holdfast".ownerships
        SELECT of_journal, o.first, o.stamp FROM unnest(firsts, stamps) AS o (first, stamp);
    DELETE FROM "holdfast".claims c WHERE c.journal = of_journal;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".note_ownerships(of_journal int4, of_epoch int8, firsts int8[], stamps uuid[]) FROM PUBLIC;
CREATE FUNCTION "holdfast".claim_journal(of_journal int4, of_number int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO "holdfast".claims AS c (journal, number, incarnation, at)
        SELECT of_journal, of_number, f.incarnation, clock_timestamp() FROM "holdfast".fleet f
        WHERE EXISTS (SELECT FROM "holdfast".journals j WHERE j.id = of_journal)
        ON CONFLICT (journal, number) DO UPDATE SET incarnation = excluded.incarnation, at = excluded.at;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_journal(of_journal int4, of_number int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz, grace_milliseconds int8, own_number int8) RETURNS TABLE (epoch int8, old_pid int4, old_start timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fleet record;
BEGIN
    SELECT l.incarnation, l.milliseconds INTO fleet FROM "holdfast".look_at_fleet() l;
    IF seen_epoch > 0 THEN
        IF fleet.milliseconds BETWEEN 0 AND grace_milliseconds THEN RETURN; END IF;
        IF EXISTS (SELECT FROM "holdfast".claims c WHERE c.journal = of_journal AND c.number > own_number
            AND c.incarnation = fleet.incarnation AND c.at > clock_timestamp() - INTERVAL '1 minute')
        THEN RETURN; END IF;
    END IF;
    RETURN QUERY SELECT t.epoch, t.old_pid, t.old_start
        FROM "holdfast".take_journal(of_journal, seen_epoch, seen_n, new_host, new_start) t;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz, grace_milliseconds int8, own_number int8) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (7, 7);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 7 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 7',
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
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 7 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 7',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
