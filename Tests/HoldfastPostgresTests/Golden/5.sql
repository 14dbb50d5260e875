BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 4 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 4',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
CREATE TABLE "holdfast".blacklist (
    recipient bytea NOT NULL,
    scope bytea NOT NULL,
    number int8 NOT NULL,
    since int8 NOT NULL,
    expires int8 NOT NULL,
    entry bytea
);
CREATE UNIQUE INDEX blacklist_scopes
    ON "holdfast".blacklist (pg_catalog.sha256(recipient), pg_catalog.sha256(scope));
CREATE UNIQUE INDEX blacklist_numbers ON "holdfast".blacklist (number);
CREATE TABLE "holdfast".blacklist_feed (last int8 NOT NULL) WITH (fillfactor = 50);
INSERT INTO "holdfast".blacklist_feed (last) VALUES (0);
CREATE TABLE "holdfast".blacklist_marks (
    number int8 PRIMARY KEY,
    stamp uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid(),
    at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE TABLE "holdfast".blacklist_writers (
    writer uuid PRIMARY KEY,
    turn int8 NOT NULL,
    number int8 NOT NULL,
    removed int8[] NOT NULL,
    at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE FUNCTION "holdfast".share_blacklist(of_writer uuid, of_turn int8, kinds int8[], recipients bytea[], scopes bytea[], sinces int8[], expiries int8[], entries bytea[]) RETURNS TABLE (number int8, removed int8[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    before int8;
    n int8;
    made int8;
    counts int8[] := '{}';
    old record;
    is_known bool;
BEGIN
    -- A plan that was made while the table was empty must not read all of it for each change later.
    PERFORM set_config('enable_seqscan', 'off', true);
    SELECT f.last INTO before FROM "holdfast".blacklist_feed f FOR UPDATE;
    SELECT w.number, w.removed INTO number, removed
        FROM "holdfast".blacklist_writers w WHERE w.writer = of_writer AND w.turn = of_turn;
    IF FOUND THEN
        RETURN NEXT;
        RETURN;
    END IF;
    n := before;
    FOR i IN 1..cardinality(kinds) LOOP
        made := 0;
        IF kinds[i] = 1 THEN
            SELECT b.number, b.since, b.expires, b.entry INTO old FROM "holdfast".blacklist b
                WHERE sha256(b.recipient) = sha256(recipients[i]) AND sha256(b.scope) = sha256(scopes[i]);
            is_known := FOUND;
            IF is_known AND old.entry IS NOT NULL THEN
                IF old.since < sinces[i] OR old.expires < expiries[i] THEN
                    n := n + 1;
                    UPDATE "holdfast".blacklist b SET number = n, since = greatest(b.since, sinces[i]),
                        expires = greatest(b.expires, expiries[i]), entry = entries[i]
                        WHERE b.number = old.number;
                END IF;
            ELSE
                IF (SELECT count(*) FROM "holdfast".blacklist b
                        WHERE sha256(b.recipient) = sha256(recipients[i]) AND b.entry IS NOT NULL)
                        >= 64 THEN
                    n := n + 1;
                    UPDATE "holdfast".blacklist b SET number = n, entry = NULL WHERE b.number = (
                        SELECT o.number FROM "holdfast".blacklist o
                        WHERE sha256(o.recipient) = sha256(recipients[i]) AND o.entry IS NOT NULL
                        ORDER BY get_byte(o.scope, 0) & 1 DESC, o.number LIMIT 1);
                END IF;
                n := n + 1;
                IF is_known THEN
                    UPDATE "holdfast".blacklist b SET number = n, since = sinces[i], expires = expiries[i],
                        entry = entries[i] WHERE b.number = old.number;
                ELSE
                    INSERT INTO "holdfast".blacklist (recipient, scope, number, since, expires, entry)
                        VALUES (recipients[i], scopes[i], n, sinces[i], expiries[i], entries[i]);
                END IF;
            END IF;
        ELSE
            FOR old IN SELECT b.number FROM "holdfast".blacklist b
                WHERE sha256(b.recipient) = sha256(recipients[i]) AND b.entry IS NOT NULL
                AND (kinds[i] = 3 OR (sha256(b.scope) = sha256(scopes[i]) AND b.since < sinces[i]))
                ORDER BY b.number
            LOOP
                n := n + 1;
                made := made + 1;
                UPDATE "holdfast".blacklist b SET number = n, entry = NULL WHERE b.number = old.number;
            END LOOP;
        END IF;
        counts[i] := made;
    END LOOP;
    IF n > before THEN
        UPDATE "holdfast".blacklist_feed f SET last = n;
        INSERT INTO "holdfast".blacklist_marks (number) VALUES (n);
    END IF;
    INSERT INTO "holdfast".blacklist_writers AS w (writer, turn, number, removed)
        VALUES (of_writer, of_turn, n, counts)
        ON CONFLICT (writer) DO UPDATE SET turn = of_turn, number = n, removed = counts, at = now();
    number := n;
    removed := counts;
    RETURN NEXT;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".share_blacklist(of_writer uuid, of_turn int8, kinds int8[], recipients bytea[], scopes bytea[], sinces int8[], expiries int8[], entries bytea[]) FROM PUBLIC;
CREATE FUNCTION "holdfast".blacklist_state(of_number int8) RETURNS TABLE (last int8, stamp uuid, known uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby may lack what the blacklist has';
    END IF;
    RETURN QUERY SELECT f.last, (SELECT m.stamp FROM "holdfast".blacklist_marks m WHERE m.number = f.last),
        (SELECT m.stamp FROM "holdfast".blacklist_marks m WHERE m.number = of_number)
        FROM "holdfast".blacklist_feed f;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".blacklist_state(of_number int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".read_blacklist(after_number int8, row_limit int4) RETURNS TABLE (number int8, recipient bytea, scope bytea, since int8, expires int8, entry bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT b.number, b.recipient, b.scope, b.since, b.expires, b.entry
        FROM "holdfast".blacklist b WHERE b.number > after_number ORDER BY b.number LIMIT row_limit;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".read_blacklist(after_number int8, row_limit int4) FROM PUBLIC;
CREATE FUNCTION "holdfast".trim_blacklist(keep_seconds int8) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bound timestamptz := now() - keep_seconds * INTERVAL '1 second';
    old int8;
    made int8;
BEGIN
    PERFORM FROM "holdfast".blacklist_feed f FOR UPDATE;
    SELECT max(m.number) INTO old FROM "holdfast".blacklist_marks m WHERE m.at < bound;
    DELETE FROM "holdfast".blacklist_marks m WHERE m.number < old;
    DELETE FROM "holdfast".blacklist b WHERE b.entry IS NULL AND b.number <= old;
    GET DIAGNOSTICS made = ROW_COUNT;
    DELETE FROM "holdfast".blacklist_writers w WHERE w.at < bound;
    RETURN made;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".trim_blacklist(keep_seconds int8) FROM PUBLIC;
CREATE TABLE "holdfast".notes (
    name text PRIMARY KEY,
    value bytea NOT NULL,
    version int8 NOT NULL
);
CREATE FUNCTION "holdfast".read_note(of_name text) RETURNS TABLE (value bytea, version int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT n.value, n.version FROM "holdfast".notes n WHERE n.name = of_name;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".read_note(of_name text) FROM PUBLIC;
CREATE FUNCTION "holdfast".swap_note(of_name text, seen int8, new_value bytea) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made int8;
BEGIN
    IF octet_length(of_name) > 500 OR octet_length(new_value) > 65536 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF013', MESSAGE = 'a name has at most 500 bytes, and a note 65,536';
    END IF;
    IF seen = 0 THEN
        INSERT INTO "holdfast".notes (name, value, version) VALUES (of_name, new_value, 1)
            ON CONFLICT (name) DO NOTHING RETURNING version INTO made;
    ELSE
        UPDATE "holdfast".notes n SET value = new_value, version = seen + 1
            WHERE n.name = of_name AND n.version = seen RETURNING n.version INTO made;
    END IF;
    RETURN made;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".swap_note(of_name text, seen int8, new_value bytea) FROM PUBLIC;
CREATE TABLE "holdfast".commands (
    id uuid PRIMARY KEY,
    journal int4 NOT NULL REFERENCES "holdfast".journals,
    request bytea NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    deadline timestamptz NOT NULL,
    claimed_by text,
    answer bytea
);
CREATE FUNCTION "holdfast".ask_command(of_id uuid, of_journal text, of_request bytea, patience int8) RETURNS TABLE (host text, is_free bool)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    number int4;
BEGIN
    SELECT j.id, j.host, j.session_pid IS NULL INTO number, host, is_free
        FROM "holdfast".journals j WHERE j.name = of_journal;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF006', MESSAGE = 'there is no journal of this name';
    END IF;
    IF octet_length(of_request) > 16777216 OR patience NOT BETWEEN 1 AND 600000 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF013', MESSAGE = 'the command is too large, or waits too long';
    END IF;
    IF (SELECT count(*) FROM "holdfast".commands c WHERE c.journal = number
            AND c.answer IS NULL AND c.deadline > clock_timestamp()) >= 32 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF012', MESSAGE = 'too many commands wait for the owner of the journal';
    END IF;
    INSERT INTO "holdfast".commands (id, journal, request, deadline)
        VALUES (of_id, number, of_request, clock_timestamp() + patience * INTERVAL '1 millisecond')
        ON CONFLICT (id) DO NOTHING;
    PERFORM pg_notify('holdfast_commands', '');
    RETURN NEXT;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".ask_command(of_id uuid, of_journal text, of_request bytea, patience int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".read_answer(of_id uuid) RETURNS TABLE (claimed_by text, answer bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT c.claimed_by, c.answer FROM "holdfast".commands c WHERE c.id = of_id;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".read_answer(of_id uuid) FROM PUBLIC;
CREATE FUNCTION "holdfast".withdraw_command(of_id uuid) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM "holdfast".commands c WHERE c.id = of_id AND c.claimed_by IS NULL;
    RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".withdraw_command(of_id uuid) FROM PUBLIC;
CREATE FUNCTION "holdfast".forget_command(of_id uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM "holdfast".commands c WHERE c.id = of_id AND c.answer IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".forget_command(of_id uuid) FROM PUBLIC;
CREATE FUNCTION "holdfast".claim_commands(of_journals int8[], of_epochs int8[], of_host text, row_limit int4) RETURNS TABLE (id uuid, journal int4, request bytea, left_ms int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM "holdfast".commands c WHERE c.id IN (SELECT o.id FROM "holdfast".commands o
        WHERE o.deadline < clock_timestamp() - INTERVAL '1 minute' FOR UPDATE SKIP LOCKED);
    RETURN QUERY UPDATE "holdfast".commands c SET claimed_by = of_host
        WHERE c.id IN (
            SELECT o.id FROM "holdfast".commands o
            JOIN unnest(of_journals, of_epochs) AS w (journal, epoch) ON w.journal = o.journal
            JOIN "holdfast".journals j ON j.id = o.journal AND j.epoch = w.epoch
            WHERE o.claimed_by IS NULL AND o.deadline > clock_timestamp()
            ORDER BY o.asked_at LIMIT row_limit FOR UPDATE OF o SKIP LOCKED)
        RETURNING c.id, c.journal, c.request,
            floor(extract(epoch FROM c.deadline - clock_timestamp()) * 1000)::int8;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_commands(of_journals int8[], of_epochs int8[], of_host text, row_limit int4) FROM PUBLIC;
CREATE FUNCTION "holdfast".answer_command(of_id uuid, of_answer bytea) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE "holdfast".commands c SET answer = of_answer, request = ''
        WHERE c.id = of_id AND c.claimed_by IS NOT NULL;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM pg_notify('holdfast_answers', of_id::text);
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".answer_command(of_id uuid, of_answer bytea) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (5, 1);
COMMIT;

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
COMMIT;

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
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
