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
CREATE FUNCTION "holdfast".awaited_standbys(setting text) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    matched text[] := regexp_match(btrim(setting), '^(?:(?:first|any) +)?([0-9]+) *[(](.*)[)]$', 'i');
    parts text[] := ARRAY(SELECT btrim(p) FROM regexp_split_to_table(coalesce(matched[2], setting), ',') p);
    names text[] := ARRAY(SELECT DISTINCT lower(btrim(p, '"')) FROM unnest(parts) p);
BEGIN
    IF EXISTS (SELECT FROM unnest(parts) p WHERE p !~ '^("[^"]+"|[^"*]+)$')
        OR cardinality(names) > coalesce(matched[1]::int8, 1)
    THEN
        RETURN '{}';
    END IF;
    RETURN names;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".awaited_standbys(setting text) FROM PUBLIC;
ALTER TABLE "holdfast".fleet DROP COLUMN has_standbys, ADD COLUMN awaited text[] NOT NULL DEFAULT '{}';
UPDATE "holdfast".fleet SET awaited = "holdfast".awaited_standbys(current_setting('synchronous_standby_names'));
CREATE OR REPLACE FUNCTION "holdfast".look_at_fleet() RETURNS TABLE (id uuid, incarnation text, milliseconds int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    present text := (SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), d.oid, '"holdfast".fleet'::regclass::oid)
    FROM pg_database d WHERE d.datname = current_database());
    line text;
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby does not know who owns a journal';
    END IF;
    IF EXISTS (SELECT FROM "holdfast".fleet f WHERE f.incarnation <> present) THEN
        -- Where a server does not say it, each change is one to another server.
        BEGIN
            line := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
        EXCEPTION WHEN OTHERS THEN line := present;
        END;
        UPDATE "holdfast".fleet f SET incarnation = present, since = clock_timestamp(), timeline = line,
            held = greatest(f.held, 1, (SELECT max(o.id) FROM "holdfast".outbox o)),
            is_lossy = f.held > 0 AND f.is_lossy OR NOT f.is_synced
                OR f.timeline <> line AND lower(current_setting('cluster_name')) <> ALL (f.awaited)
                OR split_part(f.incarnation, ' ', 2) <> split_part(present, ' ', 2)
                OR split_part(f.incarnation, ' ', 3) <> split_part(present, ' ', 3)
            WHERE f.incarnation <> present;
        IF FOUND THEN
            INSERT INTO "holdfast".unheard SELECT j.id, (SELECT o.stamp FROM "holdfast".ownerships o WHERE o.journal = j.id ORDER BY o.first DESC LIMIT 1)
                FROM "holdfast".journals j WHERE j.session_pid IS NOT NULL ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    UPDATE "holdfast".fleet f SET is_synced = current_setting('fsync') = 'on', awaited = "holdfast".awaited_standbys(current_setting('synchronous_standby_names'))
        WHERE f.is_synced <> (current_setting('fsync') = 'on') OR f.awaited <> "holdfast".awaited_standbys(current_setting('synchronous_standby_names'));
    RETURN QUERY SELECT f.id, f.incarnation,
        (extract(epoch FROM clock_timestamp() - f.since) * 1000)::int8 FROM "holdfast".fleet f;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".look_at_fleet() FROM PUBLIC;
CREATE FUNCTION "holdfast".may_restore(of_journal int4, of_epoch int8, of_stamp uuid, own_number int8, grace_milliseconds int8) RETURNS text
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
            ORDER BY o.first DESC LIMIT 1)
        OR EXISTS (SELECT FROM "holdfast".claims c WHERE c.journal = of_journal AND c.number > own_number
            AND c.incarnation = fleet.incarnation AND c.at > clock_timestamp() - INTERVAL '1 minute')
    THEN
        RETURN 'no';
    END IF;
    RETURN CASE WHEN fleet.milliseconds BETWEEN 0 AND grace_milliseconds THEN 'later' ELSE 'yes' END;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".may_restore(of_journal int4, of_epoch int8, of_stamp uuid, own_number int8, grace_milliseconds int8) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (10, 7);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 10 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 10',
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
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 10 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 10',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
