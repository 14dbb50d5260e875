BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 13 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 13',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
ALTER TABLE "holdfast".fleet ADD COLUMN former text NOT NULL DEFAULT '',
    ADD COLUMN promotion text NOT NULL DEFAULT '', ADD COLUMN asked_at timestamptz;
CREATE TABLE "holdfast".sighted (journal int4 PRIMARY KEY, epoch int8, n int8);
CREATE TABLE "holdfast".doubts (
    journal int4 PRIMARY KEY,
    stamp uuid,
    incarnation text NOT NULL,
    is_over bool NOT NULL
);
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
            INSERT INTO "holdfast".sighted SELECT b.journal, b.epoch, b.n FROM "holdfast".beats b;
        END IF;
    END IF;
    UPDATE "holdfast".fleet f SET is_synced = current_setting('fsync') = 'on', awaited = "holdfast".awaited_standbys(current_setting('synchronous_standby_names'))
        WHERE f.is_synced <> (current_setting('fsync') = 'on') OR f.awaited <> "holdfast".awaited_standbys(current_setting('synchronous_standby_names'));
    RETURN QUERY SELECT f.id, f.incarnation,
        (extract(epoch FROM clock_timestamp() - f.since) * 1000)::int8 FROM "holdfast".fleet f;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".look_at_fleet() FROM PUBLIC;
CREATE FUNCTION "holdfast".remember_fleet() RETURNS TABLE (id text, incarnation text, timeline text, awaited text, beats text, is_asked bool)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM "holdfast".look_at_fleet();
    RETURN QUERY SELECT f.id::text, f.incarnation, f.timeline, to_json(f.awaited)::text,
        coalesce((SELECT string_agg(concat_ws(' ', b.journal, b.epoch, b.n), ',') FROM "holdfast".beats b), ''),
        f.held > 0 AND f.promotion IN ('unvouched', 'told') FROM "holdfast".fleet f;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".remember_fleet() FROM PUBLIC;
CREATE FUNCTION "holdfast".vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text) RETURNS text
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
    UPDATE "holdfast".fleet f SET promotion = CASE WHEN verdict = 'denied' THEN 'denied' ELSE 'told' END,
        is_lossy = f.is_lossy OR verdict <> 'lossless' WHERE verdict <> 'older';
    RETURN verdict;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".hear_journal(of_journal int4, of_stamp uuid, seen_incarnation text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM "holdfast".doubts d WHERE d.journal = of_journal AND d.stamp = of_stamp
        AND EXISTS (SELECT FROM "holdfast".fleet f WHERE f.incarnation = seen_incarnation);
    DELETE FROM "holdfast".unheard u WHERE u.journal = of_journal
        AND EXISTS (SELECT FROM "holdfast".fleet f WHERE f.incarnation = seen_incarnation)
        AND u.stamp = of_stamp;
    IF FOUND AND NOT EXISTS (SELECT FROM "holdfast".unheard) THEN
        UPDATE "holdfast".fleet f SET promotion = 'told' WHERE f.promotion = 'unvouched';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".hear_journal(of_journal int4, of_stamp uuid, seen_incarnation text) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4, hold_milliseconds int8) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8, at int8, possibly_sent bool)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    ids int8[];
    first int8;
    passed int8;
    fleet record;
    is_doubtful bool;
BEGIN
    SELECT l.milliseconds INTO passed FROM "holdfast".look_at_fleet() l;
    UPDATE "holdfast".fleet f SET asked_at = clock_timestamp()
        WHERE f.held > 0 AND f.promotion = 'unvouched' AND f.asked_at IS NULL;
    SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy, f.promotion, f.asked_at INTO fleet FROM "holdfast".fleet f;
    IF fleet.held > 0 AND (passed NOT BETWEEN 0 AND hold_milliseconds
            OR fleet.promotion <> 'unvouched' AND (NOT fleet.is_lossy OR passed > hold_milliseconds / 2)
                AND NOT EXISTS (SELECT FROM "holdfast".unheard))
        AND NOT (fleet.promotion = 'unvouched' AND clock_timestamp() BETWEEN fleet.asked_at
            AND fleet.asked_at + hold_milliseconds / 2 * interval '1 millisecond')
    THEN
        is_doubtful := fleet.promotion IN ('unvouched', 'denied')
            OR fleet.is_lossy AND EXISTS (SELECT FROM "holdfast".unheard);
        UPDATE "holdfast".fleet f SET held = 0, is_lossy = false, promotion = '', asked_at = NULL,
            doubtful = CASE WHEN is_doubtful THEN f.held ELSE f.doubtful END,
            doubtful_since = CASE WHEN is_doubtful THEN f.since ELSE f.doubtful_since END
            WHERE f.held = fleet.held AND f.is_lossy = fleet.is_lossy AND f.promotion = fleet.promotion;
        IF FOUND THEN
            IF is_doubtful THEN
                UPDATE "holdfast".outbox o SET possibly_sent = true
                    WHERE o.id <= fleet.held AND o.journal IN (SELECT u.journal FROM "holdfast".unheard u);
                INSERT INTO "holdfast".doubts AS d SELECT u.journal, u.stamp, f.incarnation, false
                    FROM "holdfast".unheard u, "holdfast".fleet f
                    ON CONFLICT (journal) DO UPDATE SET stamp = excluded.stamp, incarnation = excluded.incarnation,
                        is_over = false WHERE d.incarnation <> excluded.incarnation;
            END IF;
            DELETE FROM "holdfast".unheard;
        END IF;
        SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy INTO fleet FROM "holdfast".fleet f;
    END IF;
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    SELECT o.id INTO first FROM "holdfast".outbox o WHERE o.slot < 4 AND o.journal IS NULL AND o.id > fleet.held ORDER BY o.id LIMIT 1;
    IF first IS NULL AND NOT EXISTS (SELECT FROM "holdfast".outbox o WHERE o.slot = 4 AND o.journal IS NULL AND o.deliver_after < now() + interval '30 seconds' AND o.id > fleet.held) THEN RETURN; END IF;
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    ids := ARRAY(SELECT o.id FROM "holdfast".outbox o WHERE o.slot = 4 AND o.journal IS NULL AND o.deliver_after < now() + interval '30 seconds' AND o.id > fleet.held
            ORDER BY o.deliver_after LIMIT most FOR UPDATE SKIP LOCKED)
        || ARRAY(SELECT o.id FROM "holdfast".outbox o WHERE o.slot < 4 AND o.journal IS NULL AND o.id > fleet.held AND o.id >= first
            ORDER BY o.id LIMIT most FOR UPDATE SKIP LOCKED);
    ids := ids[1:most];
    RETURN QUERY UPDATE "holdfast".outbox o SET journal = of_journal, possibly_sent = o.possibly_sent
            OR o.id <= fleet.doubtful AND NOT (o.slot = 4 AND o.deliver_after > fleet.doubtful_since + interval '5 minutes')
        WHERE o.id = ANY(ids) RETURNING o.id, o.apns_id, o.is_assigned, o.token, o.channel, o.topic, o.payload, o.push_type, o.priority, o.expiration, o.try_until, o.collapse_id, o.tag, o.context, o.producer, o.is_once, o.environment, floor(extract(epoch FROM o.deliver_after) * 1000)::int8, o.deliver_within, o.newest_wins, floor(extract(epoch FROM o.token_registered_at) * 1000)::int8, (extract(epoch FROM o.at) * 1000000)::int8, o.possibly_sent;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4, hold_milliseconds int8) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".reclaim_outbox(of_journal int4, of_epoch int8, after_id int8, most int4, hold_milliseconds int8) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8, at int8, possibly_sent bool)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    passed int8;
    fleet record;
    is_doubtful bool;
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    SELECT l.milliseconds INTO passed FROM "holdfast".look_at_fleet() l;
    UPDATE "holdfast".fleet f SET asked_at = clock_timestamp()
        WHERE f.held > 0 AND f.promotion = 'unvouched' AND f.asked_at IS NULL;
    SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy, f.promotion, f.asked_at INTO fleet FROM "holdfast".fleet f;
    IF fleet.held > 0 AND (passed NOT BETWEEN 0 AND hold_milliseconds
            OR fleet.promotion <> 'unvouched' AND (NOT fleet.is_lossy OR passed > hold_milliseconds / 2)
                AND NOT EXISTS (SELECT FROM "holdfast".unheard))
        AND NOT (fleet.promotion = 'unvouched' AND clock_timestamp() BETWEEN fleet.asked_at
            AND fleet.asked_at + hold_milliseconds / 2 * interval '1 millisecond')
    THEN
        is_doubtful := fleet.promotion IN ('unvouched', 'denied')
            OR fleet.is_lossy AND EXISTS (SELECT FROM "holdfast".unheard);
        UPDATE "holdfast".fleet f SET held = 0, is_lossy = false, promotion = '', asked_at = NULL,
            doubtful = CASE WHEN is_doubtful THEN f.held ELSE f.doubtful END,
            doubtful_since = CASE WHEN is_doubtful THEN f.since ELSE f.doubtful_since END
            WHERE f.held = fleet.held AND f.is_lossy = fleet.is_lossy AND f.promotion = fleet.promotion;
        IF FOUND THEN
            IF is_doubtful THEN
                UPDATE "holdfast".outbox o SET possibly_sent = true
                    WHERE o.id <= fleet.held AND o.journal IN (SELECT u.journal FROM "holdfast".unheard u);
                INSERT INTO "holdfast".doubts AS d SELECT u.journal, u.stamp, f.incarnation, false
                    FROM "holdfast".unheard u, "holdfast".fleet f
                    ON CONFLICT (journal) DO UPDATE SET stamp = excluded.stamp, incarnation = excluded.incarnation,
                        is_over = false WHERE d.incarnation <> excluded.incarnation;
            END IF;
            DELETE FROM "holdfast".unheard;
        END IF;
        SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy INTO fleet FROM "holdfast".fleet f;
    END IF;
    IF fleet.held > 0 AND EXISTS (SELECT FROM "holdfast".unheard u WHERE u.journal = of_journal)
        AND EXISTS (SELECT FROM "holdfast".outbox o WHERE o.journal = of_journal AND o.id <= fleet.held)
    THEN
        RAISE EXCEPTION USING ERRCODE = 'HF015', MESSAGE = 'the database has changed, and the former '
            || 'owner of the journal has not said yet which submissions by SQL it has: they wait, at most 20 s';
    END IF;
    RETURN QUERY SELECT o.id, o.apns_id, o.is_assigned, o.token, o.channel, o.topic, o.payload, o.push_type, o.priority, o.expiration, o.try_until, o.collapse_id, o.tag, o.context, o.producer, o.is_once, o.environment, floor(extract(epoch FROM o.deliver_after) * 1000)::int8, o.deliver_within, o.newest_wins, floor(extract(epoch FROM o.token_registered_at) * 1000)::int8, (extract(epoch FROM o.at) * 1000000)::int8, o.possibly_sent FROM "holdfast".outbox o
        WHERE o.journal = of_journal AND o.id > after_id ORDER BY o.id LIMIT most;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".reclaim_outbox(of_journal int4, of_epoch int8, after_id int8, most int4, hold_milliseconds int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".doubt_of(of_journal int4, of_epoch int8, patience_milliseconds int8) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fleet record;
BEGIN
    PERFORM "holdfast".look_at_fleet();
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    UPDATE "holdfast".fleet f SET asked_at = clock_timestamp()
        WHERE f.held > 0 AND f.promotion = 'unvouched' AND f.asked_at IS NULL;
    SELECT f.incarnation, f.held, f.is_lossy, f.promotion, f.asked_at INTO fleet FROM "holdfast".fleet f;
    IF EXISTS (SELECT FROM "holdfast".doubts d WHERE d.journal = of_journal AND NOT d.is_over) THEN RETURN 'yes'; END IF;
    IF fleet.held = 0 OR NOT EXISTS (SELECT FROM "holdfast".unheard u WHERE u.journal = of_journal)
        OR EXISTS (SELECT FROM "holdfast".doubts d WHERE d.journal = of_journal AND d.incarnation = fleet.incarnation)
    THEN
        RETURN 'no';
    END IF;
    IF NOT fleet.is_lossy AND fleet.promotion = 'unvouched' AND clock_timestamp() BETWEEN fleet.asked_at
        AND fleet.asked_at + patience_milliseconds * interval '1 millisecond'
    THEN
        RETURN 'later';
    END IF;
    RETURN CASE WHEN fleet.is_lossy OR fleet.promotion IN ('unvouched', 'denied') THEN 'yes' ELSE 'no' END;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".doubt_of(of_journal int4, of_epoch int8, patience_milliseconds int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".end_doubt(of_journal int4, of_epoch int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    INSERT INTO "holdfast".doubts SELECT of_journal, NULL, f.incarnation, true FROM "holdfast".fleet f
        ON CONFLICT (journal) DO UPDATE SET stamp = NULL, incarnation = excluded.incarnation, is_over = true;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".end_doubt(of_journal int4, of_epoch int8) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (14, 7);
COMMIT;

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
COMMIT;

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
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
