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
ALTER TABLE "holdfast".fleet ADD COLUMN timeline text NOT NULL DEFAULT '',
    ADD COLUMN is_synced bool NOT NULL DEFAULT true, ADD COLUMN has_standbys bool NOT NULL DEFAULT false,
    ADD COLUMN held int8 NOT NULL DEFAULT 0, ADD COLUMN is_lossy bool NOT NULL DEFAULT false,
    ADD COLUMN doubtful int8 NOT NULL DEFAULT 0, ADD COLUMN doubtful_since timestamptz NOT NULL DEFAULT 'epoch';
UPDATE "holdfast".fleet SET timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
CREATE TABLE "holdfast".unheard (journal int4 PRIMARY KEY REFERENCES "holdfast".journals, stamp uuid);
ALTER TABLE "holdfast".outbox ADD COLUMN possibly_sent bool NOT NULL DEFAULT false;
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
            is_lossy = f.held > 0 AND f.is_lossy OR NOT f.is_synced OR f.timeline <> line AND NOT f.has_standbys
                OR split_part(f.incarnation, ' ', 2) <> split_part(present, ' ', 2)
                OR split_part(f.incarnation, ' ', 3) <> split_part(present, ' ', 3)
            WHERE f.incarnation <> present;
        IF FOUND THEN
            INSERT INTO "holdfast".unheard SELECT j.id, (SELECT o.stamp FROM "holdfast".ownerships o WHERE o.journal = j.id ORDER BY o.first DESC LIMIT 1)
                FROM "holdfast".journals j WHERE j.session_pid IS NOT NULL ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    UPDATE "holdfast".fleet f SET is_synced = current_setting('fsync') = 'on', has_standbys = current_setting('synchronous_standby_names') <> ''
        WHERE f.is_synced <> (current_setting('fsync') = 'on') OR f.has_standbys <> (current_setting('synchronous_standby_names') <> '');
    RETURN QUERY SELECT f.id, f.incarnation,
        (extract(epoch FROM clock_timestamp() - f.since) * 1000)::int8 FROM "holdfast".fleet f;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".look_at_fleet() FROM PUBLIC;
CREATE FUNCTION "holdfast".hear_journal(of_journal int4, of_stamp uuid, seen_incarnation text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM "holdfast".unheard u WHERE u.journal = of_journal
        AND EXISTS (SELECT FROM "holdfast".fleet f WHERE f.incarnation = seen_incarnation)
        AND u.stamp = of_stamp;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".hear_journal(of_journal int4, of_stamp uuid, seen_incarnation text) FROM PUBLIC;
CREATE FUNCTION "holdfast".claim_taken(of_journal int4, numbers int8[], times int8[], is_whole bool) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE "holdfast".fleet f SET is_lossy = true WHERE f.held > 0 AND NOT f.is_lossy;
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    UPDATE "holdfast".outbox o SET journal = of_journal, possibly_sent = true
        FROM unnest(numbers, times) AS t (number, time), "holdfast".fleet f
        WHERE o.id = t.number AND (extract(epoch FROM o.at) * 1000000)::int8 = t.time AND o.id <= f.held
        AND (o.journal IS DISTINCT FROM of_journal OR NOT o.possibly_sent);
    IF is_whole THEN DELETE FROM "holdfast".unheard u WHERE u.journal = of_journal; END IF;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_taken(of_journal int4, numbers int8[], times int8[], is_whole bool) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".claim_journal(of_journal int4, of_number int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO "holdfast".claims AS c (journal, number, incarnation, at)
        SELECT of_journal, of_number, f.incarnation, clock_timestamp() FROM "holdfast".fleet f
        WHERE EXISTS (SELECT FROM "holdfast".journals j WHERE j.id = of_journal)
        ON CONFLICT (journal, number) DO UPDATE SET incarnation = excluded.incarnation, at = excluded.at;
    UPDATE "holdfast".fleet f SET is_lossy = true WHERE f.held > 0 AND NOT f.is_lossy;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_journal(of_journal int4, of_number int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4, hold_milliseconds int8) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8, at int8, possibly_sent bool)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    ids int8[];
    first int8;
    passed int8;
    fleet record;
BEGIN
    SELECT l.milliseconds INTO passed FROM "holdfast".look_at_fleet() l;
    SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy INTO fleet FROM "holdfast".fleet f;
    IF fleet.held > 0 AND (passed NOT BETWEEN 0 AND hold_milliseconds
        OR (NOT fleet.is_lossy OR passed > hold_milliseconds / 2) AND NOT EXISTS (SELECT FROM "holdfast".unheard))
    THEN
        UPDATE "holdfast".fleet f SET held = 0, is_lossy = false,
            doubtful = CASE WHEN s.is_doubtful THEN f.held ELSE f.doubtful END,
            doubtful_since = CASE WHEN s.is_doubtful THEN f.since ELSE f.doubtful_since END
            FROM (SELECT EXISTS (SELECT FROM "holdfast".unheard) AS is_there) u,
                LATERAL (SELECT u.is_there AND fleet.is_lossy AS is_doubtful) s
            WHERE f.held = fleet.held AND f.is_lossy = fleet.is_lossy;
        IF FOUND THEN
            IF fleet.is_lossy THEN
                UPDATE "holdfast".outbox o SET possibly_sent = true
                    WHERE o.id <= fleet.held AND o.journal IN (SELECT u.journal FROM "holdfast".unheard u);
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
CREATE FUNCTION "holdfast".reclaim_outbox(of_journal int4, of_epoch int8, after_id int8, most int4, hold_milliseconds int8) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8, at int8, possibly_sent bool)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    passed int8;
    fleet record;
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    SELECT l.milliseconds INTO passed FROM "holdfast".look_at_fleet() l;
    SELECT f.held, f.doubtful, f.doubtful_since, f.is_lossy INTO fleet FROM "holdfast".fleet f;
    IF fleet.held > 0 AND (passed NOT BETWEEN 0 AND hold_milliseconds
        OR (NOT fleet.is_lossy OR passed > hold_milliseconds / 2) AND NOT EXISTS (SELECT FROM "holdfast".unheard))
    THEN
        UPDATE "holdfast".fleet f SET held = 0, is_lossy = false,
            doubtful = CASE WHEN s.is_doubtful THEN f.held ELSE f.doubtful END,
            doubtful_since = CASE WHEN s.is_doubtful THEN f.since ELSE f.doubtful_since END
            FROM (SELECT EXISTS (SELECT FROM "holdfast".unheard) AS is_there) u,
                LATERAL (SELECT u.is_there AND fleet.is_lossy AS is_doubtful) s
            WHERE f.held = fleet.held AND f.is_lossy = fleet.is_lossy;
        IF FOUND THEN
            IF fleet.is_lossy THEN
                UPDATE "holdfast".outbox o SET possibly_sent = true
                    WHERE o.id <= fleet.held AND o.journal IN (SELECT u.journal FROM "holdfast".unheard u);
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
CREATE OR REPLACE FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT c.id, c.apns_id, c.is_assigned, c.token, c.channel, c.topic, c.payload, c.push_type, c.priority, c.expiration, c.try_until, c.collapse_id, c.tag, c.context, c.producer, c.is_once, c.environment, c.deliver_after, c.deliver_within, c.newest_wins, c.token_registered_at FROM "holdfast".claim_outbox(of_journal, of_epoch, most, 20000) c
        WHERE NOT c.possibly_sent;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".claimed_outbox(of_journal int4, of_epoch int8, after_id int8, most int4) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    RETURN QUERY SELECT o.id, o.apns_id, o.is_assigned, o.token, o.channel, o.topic, o.payload, o.push_type, o.priority, o.expiration, o.try_until, o.collapse_id, o.tag, o.context, o.producer, o.is_once, o.environment, floor(extract(epoch FROM o.deliver_after) * 1000)::int8, o.deliver_within, o.newest_wins, floor(extract(epoch FROM o.token_registered_at) * 1000)::int8 FROM "holdfast".outbox o
        WHERE o.journal = of_journal AND o.id > after_id AND NOT o.possibly_sent ORDER BY o.id LIMIT most;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claimed_outbox(of_journal int4, of_epoch int8, after_id int8, most int4) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".settle_outbox(of_journal int4, of_epoch int8, given jsonb) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ids int8[] := ARRAY(SELECT r.id FROM jsonb_to_recordset(given) AS r(id int8));
    settled int8;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    IF NOT EXISTS (SELECT FROM "holdfast".outbox o WHERE o.id = ANY(ids)) THEN RETURN 0; END IF;
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    WITH gone AS (
        DELETE FROM "holdfast".outbox o WHERE o.id = ANY(ids) AND o.journal = of_journal RETURNING o.*
    ), told AS (
        INSERT INTO "holdfast".outcomes (slot, journal, id, outcome, reason, detail, since, submitted_at,
            ended_at, attempts, topic, token, channel, producer, tag, context)
        SELECT t.slot, of_journal, g.apns_id, coalesce(r.outcome, 'rejected'), r.reason, r.detail,
            timestamptz 'epoch' + r.since * interval '1 millisecond', g.at, now(), 0, g.topic,
            encode(g.token, 'hex'), g.channel, CASE WHEN g.producer LIKE 'sql:%' THEN substr(g.producer, 5) WHEN g.producer <> 'sql' THEN g.producer END, g.tag, g.context
        FROM gone g JOIN jsonb_to_recordset(given)
                AS r(id int8, outcome text, reason text, detail text, since int8) ON r.id = g.id,
            "holdfast".slots t
        WHERE t.name = 'outcomes' AND num_nonnulls(r.outcome, r.reason) > 0
        ORDER BY g.id
    )
    SELECT count(*) INTO settled FROM gone;
    RETURN settled;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".settle_outbox(of_journal int4, of_epoch int8, given jsonb) FROM PUBLIC;
CREATE OR REPLACE FUNCTION "holdfast".cancel(id uuid) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM "holdfast".look_at_fleet();
    DELETE FROM "holdfast".outbox o USING "holdfast".fleet f WHERE o.apns_id = cancel.id AND o.journal IS NULL
        AND NOT (o.id <= f.held AND NOT (o.slot = 4 AND o.deliver_after > f.since + interval '5 minutes'))
        AND NOT (o.id <= f.doubtful AND NOT (o.slot = 4 AND o.deliver_after > f.doubtful_since + interval '5 minutes'));
    RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".cancel(uuid) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (8, 7);
COMMIT;

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
COMMIT;

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
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
