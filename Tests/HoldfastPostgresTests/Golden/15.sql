BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 14 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 14',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
ALTER TABLE "holdfast".sighted ADD COLUMN is_owned bool NOT NULL DEFAULT false,
    ADD COLUMN has_vouched bool NOT NULL DEFAULT false;
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
            is_lossy = f.held > 0 AND (f.is_lossy OR f.promotion IN ('unvouched', 'denied')) OR NOT f.is_synced
                OR f.timeline <> line AND lower(current_setting('cluster_name')) <> ALL (f.awaited)
                OR split_part(f.incarnation, ' ', 2) <> split_part(present, ' ', 2)
                OR split_part(f.incarnation, ' ', 3) <> split_part(present, ' ', 3),
            former = f.timeline, asked_at = NULL,
            promotion = CASE WHEN f.timeline <> line AND EXISTS (SELECT FROM "holdfast".journals)
                THEN 'unvouched' ELSE '' END
            WHERE f.incarnation <> present;
        IF FOUND THEN
            INSERT INTO "holdfast".unheard SELECT j.id, (SELECT o.stamp FROM "holdfast".ownerships o WHERE o.journal = j.id ORDER BY o.first DESC LIMIT 1)
                FROM "holdfast".journals j WHERE j.session_pid IS NOT NULL ON CONFLICT DO NOTHING;
            DELETE FROM "holdfast".sighted;
            INSERT INTO "holdfast".sighted
                SELECT b.journal, b.epoch, b.n, j.session_pid IS NOT NULL, false
                FROM "holdfast".beats b JOIN "holdfast".journals j ON j.id = b.journal;
        END IF;
    END IF;
    UPDATE "holdfast".fleet f SET is_synced = current_setting('fsync') = 'on', awaited = "holdfast".awaited_standbys(current_setting('synchronous_standby_names'))
        WHERE f.is_synced <> (current_setting('fsync') = 'on') OR f.awaited <> "holdfast".awaited_standbys(current_setting('synchronous_standby_names'));
    RETURN QUERY SELECT f.id, f.incarnation,
        (extract(epoch FROM clock_timestamp() - f.since) * 1000)::int8 FROM "holdfast".fleet f;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".look_at_fleet() FROM PUBLIC;
CREATE FUNCTION "holdfast".vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text, of_journals int4[]) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fleet record;
    is_newer bool;
    is_older bool;
    is_lacking bool;
    names text[] := ARRAY(SELECT json_array_elements_text(of_awaited::json));
    verdict text;
BEGIN
    PERFORM "holdfast".look_at_fleet();
    SELECT f.incarnation, f.former, f.held, f.promotion INTO fleet FROM "holdfast".fleet f FOR UPDATE;
    IF fleet.held = 0 OR fleet.promotion NOT IN ('unvouched', 'told') OR fleet.incarnation = of_incarnation THEN
        RETURN 'late';
    END IF;
    WITH own AS (
        SELECT split_part(p, ' ', 1)::int4 AS journal, split_part(p, ' ', 2)::int8 AS epoch,
            split_part(p, ' ', 3)::int8 AS n
        FROM unnest(string_to_array(of_beats, ',')) p
    )
    SELECT of_timeline > fleet.former
            OR bool_or(o.epoch IS NOT NULL AND (s.epoch IS NULL OR s.epoch < o.epoch)),
        of_timeline < fleet.former
            OR bool_or(s.epoch IS NOT NULL AND (o.epoch IS NULL OR o.epoch < s.epoch
                OR o.epoch = s.epoch AND o.n + 5 < s.n)),
        bool_or(o.epoch = s.epoch AND s.n + 2 < o.n)
        INTO is_newer, is_older, is_lacking
        FROM own o FULL JOIN "holdfast".sighted s ON s.journal = o.journal;
    verdict := CASE WHEN is_newer THEN 'denied' WHEN is_older THEN 'older'
        WHEN is_lacking OR lower(current_setting('cluster_name')) <> ALL (names) THEN 'lossy' ELSE 'lossless' END;
    UPDATE "holdfast".sighted s SET has_vouched = true
        WHERE verdict = 'lossless' AND s.is_owned AND s.journal = ANY (of_journals);
    UPDATE "holdfast".fleet f SET is_lossy = f.is_lossy OR verdict <> 'lossless',
        promotion = CASE WHEN verdict = 'denied' THEN 'denied'
            WHEN verdict = 'lossy' OR (SELECT 2 * count(*) FILTER (WHERE s.has_vouched) > count(*)
                FROM "holdfast".sighted s WHERE s.is_owned) THEN 'told'
            ELSE f.promotion END
        WHERE verdict <> 'older';
    RETURN verdict;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text, of_journals int4[]) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN "holdfast".vouch(of_incarnation, of_timeline, of_awaited, of_beats, '{}'::int4[]);
END
$$;
REVOKE ALL ON FUNCTION "holdfast".vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (15, 7);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 15 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 15',
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
GRANT EXECUTE ON FUNCTION "holdfast".remember_fleet() TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".vouch(text, text, text, text) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".doubt_of(int4, int8, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".end_doubt(int4, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".vouch(text, text, text, text, int4[]) TO "service";
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 15 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 15',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
