BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 16 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 16',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
CREATE FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4, hold_milliseconds int8, now_milliseconds int8) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8, at int8, possibly_sent bool)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    ids int8[];
    first int8;
    passed int8;
    fleet record;
    is_doubtful bool;
    clock timestamptz := to_timestamp(now_milliseconds / 1000.0);
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
    IF first IS NULL AND NOT EXISTS (SELECT FROM "holdfast".outbox o WHERE o.slot = 4 AND o.journal IS NULL AND o.deliver_after < clock + interval '30 seconds' AND o.id > fleet.held) THEN RETURN; END IF;
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    ids := ARRAY(SELECT o.id FROM "holdfast".outbox o WHERE o.slot = 4 AND o.journal IS NULL AND o.deliver_after < clock + interval '30 seconds' AND o.id > fleet.held
            ORDER BY o.deliver_after LIMIT most FOR UPDATE SKIP LOCKED)
        || ARRAY(SELECT o.id FROM "holdfast".outbox o WHERE o.slot < 4 AND o.journal IS NULL AND o.id > fleet.held AND o.id >= first
            ORDER BY o.id LIMIT most FOR UPDATE SKIP LOCKED);
    ids := ids[1:most];
    RETURN QUERY UPDATE "holdfast".outbox o SET journal = of_journal, possibly_sent = o.possibly_sent
            OR o.id <= fleet.doubtful AND NOT (o.slot = 4 AND o.deliver_after > fleet.doubtful_since + interval '5 minutes')
        WHERE o.id = ANY(ids) RETURNING o.id, o.apns_id, o.is_assigned, o.token, o.channel, o.topic, o.payload, o.push_type, o.priority, o.expiration, o.try_until, o.collapse_id, o.tag, o.context, o.producer, o.is_once, o.environment, floor(extract(epoch FROM o.deliver_after) * 1000)::int8, o.deliver_within, o.newest_wins, floor(extract(epoch FROM o.token_registered_at) * 1000)::int8, (extract(epoch FROM o.at) * 1000000)::int8, o.possibly_sent;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4, hold_milliseconds int8, now_milliseconds int8) FROM PUBLIC;
CREATE TABLE "holdfast".losses (
    journal int4 PRIMARY KEY,
    began_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL
);
CREATE FUNCTION "holdfast".note_loss(of_journal int4, of_epoch int8, from_milliseconds int8) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    change timestamptz;
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    SELECT f.since INTO change FROM "holdfast".fleet f;
    INSERT INTO "holdfast".losses
        VALUES (of_journal, to_timestamp(from_milliseconds / 1000.0), change)
        ON CONFLICT (journal) DO UPDATE SET began_at = excluded.began_at, ended_at = excluded.ended_at;
    RETURN floor(extract(epoch FROM change) * 1000)::int8;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".note_loss(of_journal int4, of_epoch int8, from_milliseconds int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".list_losses() RETURNS TABLE (id int4, began int8, ended int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT l.journal, floor(extract(epoch FROM l.began_at) * 1000)::int8, floor(extract(epoch FROM l.ended_at) * 1000)::int8
        FROM "holdfast".losses l WHERE l.ended_at > clock_timestamp() - interval '30 days';
END
$$;
REVOKE ALL ON FUNCTION "holdfast".list_losses() FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (17, 7);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 17 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 17',
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
GRANT EXECUTE ON FUNCTION "holdfast".claim_outbox(int4, int8, int4, int8, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".note_loss(int4, int8, int8) TO "service";
GRANT EXECUTE ON FUNCTION "holdfast".list_losses() TO "service";
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 17 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 17',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
