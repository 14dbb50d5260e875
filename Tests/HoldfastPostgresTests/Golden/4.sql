BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 3 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 3',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
CREATE TABLE "holdfast".slots (name text PRIMARY KEY, slot int2 NOT NULL) WITH (fillfactor = 50);
INSERT INTO "holdfast".slots VALUES ('outbox', 0), ('outcomes', 0);
CREATE SEQUENCE "holdfast".outbox_id;
CREATE TABLE "holdfast".outbox (
    slot int2 NOT NULL,
    id int8 NOT NULL DEFAULT pg_catalog.nextval('"holdfast".outbox_id'),
    journal int4,
    at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    apns_id uuid NOT NULL,
    is_assigned bool NOT NULL,
    token bytea,
    channel text,
    topic text NOT NULL,
    payload text NOT NULL,
    push_type text,
    priority int2,
    expiration int8,
    try_until int8,
    collapse_id text,
    tag text,
    context text,
    producer text NOT NULL,
    is_once bool NOT NULL,
    environment text,
    deliver_after timestamptz,
    deliver_within text,
    newest_wins bool NOT NULL,
    token_registered_at timestamptz
) PARTITION BY LIST (slot);
CREATE TABLE "holdfast".outbox_0 PARTITION OF "holdfast".outbox FOR VALUES IN (0)
    WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outbox_0 (id);
CREATE INDEX ON "holdfast".outbox_0 (apns_id);
CREATE TABLE "holdfast".outbox_1 PARTITION OF "holdfast".outbox FOR VALUES IN (1)
    WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outbox_1 (id);
CREATE INDEX ON "holdfast".outbox_1 (apns_id);
CREATE TABLE "holdfast".outbox_2 PARTITION OF "holdfast".outbox FOR VALUES IN (2)
    WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outbox_2 (id);
CREATE INDEX ON "holdfast".outbox_2 (apns_id);
CREATE TABLE "holdfast".outbox_3 PARTITION OF "holdfast".outbox FOR VALUES IN (3)
    WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outbox_3 (id);
CREATE INDEX ON "holdfast".outbox_3 (apns_id);
CREATE TABLE "holdfast".outbox_4 PARTITION OF "holdfast".outbox FOR VALUES IN (4)
    WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outbox_4 (id);
CREATE INDEX ON "holdfast".outbox_4 (apns_id);
CREATE INDEX ON "holdfast".outbox_4 (deliver_after);
CREATE TABLE "holdfast".outcome_cursors (journal int4 PRIMARY KEY, place int8 NOT NULL) WITH (fillfactor = 50);
CREATE SEQUENCE "holdfast".outcome_number;
CREATE TABLE "holdfast".outcomes (
    slot int2 NOT NULL,
    number int8 NOT NULL DEFAULT pg_catalog.nextval('"holdfast".outcome_number'),
    put_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    journal int4 NOT NULL,
    id uuid,
    outcome text,
    reason text,
    detail text,
    status int4,
    since timestamptz,
    submitted_at timestamptz,
    sent_at timestamptz,
    ended_at timestamptz,
    attempts int4,
    topic text,
    token text,
    channel text,
    address text,
    producer text,
    tag text,
    context text,
    tag_bytes bytea,
    context_bytes bytea,
    unique_id text
) PARTITION BY LIST (slot);
CREATE TABLE "holdfast".outcomes_0 PARTITION OF "holdfast".outcomes FOR VALUES IN (0)
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outcomes_0 (number);
CREATE TABLE "holdfast".outcomes_1 PARTITION OF "holdfast".outcomes FOR VALUES IN (1)
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outcomes_1 (number);
CREATE TABLE "holdfast".outcomes_2 PARTITION OF "holdfast".outcomes FOR VALUES IN (2)
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outcomes_2 (number);
CREATE TABLE "holdfast".outcomes_3 PARTITION OF "holdfast".outcomes FOR VALUES IN (3)
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE UNIQUE INDEX ON "holdfast".outcomes_3 (number);
CREATE TYPE "holdfast".submission AS (topic text, token text, payload jsonb, channel text, id uuid, push_type text, priority int4, expiration timestamptz, try_until timestamptz, collapse_id text, tag text, context text, producer text, guarantee text, environment text, deliver_after timestamptz, deliver_within text, newest_wins bool, token_registered_at timestamptz);
CREATE FUNCTION "holdfast".are_hours(hours text) RETURNS bool LANGUAGE plpgsql STABLE AS $$
DECLARE
    parts text[] := regexp_match(hours,
        '^(([01]\d|2[0-3]):[0-5]\d)-(([01]\d|2[0-3]):[0-5]\d|24:00) ([A-Za-z][A-Za-z0-9_+/-]{0,63})$');
BEGIN
    IF parts IS NULL OR parts[1] = parts[3] OR parts[1] = '00:00' AND parts[3] = '24:00' THEN
        RETURN false;
    END IF;
    PERFORM now() AT TIME ZONE parts[5];
    RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN RETURN false;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".are_hours(hours text) FROM PUBLIC;
CREATE FUNCTION "holdfast".check_submission(s "holdfast".submission, place text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    size int4;
    most int4 := CASE WHEN s.channel IS NOT NULL OR s.push_type = 'voip' THEN 5120 ELSE 4096 END;
BEGIN
    IF s.topic IS NULL OR s.topic = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'topic', CONSTRAINT = 'MissingTopic',
            MESSAGE = place || 'the topic is missing', HINT = 'Give the topic, which is mostly the app''s bundle identifier.';
    END IF;
    IF length(s.topic) > 255 OR s.topic COLLATE "C" ~ '[^!-~]' THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'topic', CONSTRAINT = 'BadTopic',
            MESSAGE = place || format('the topic has %s characters, or others than it may have', length(s.topic)), HINT = 'A topic has 1 to 255 visible ASCII characters.';
    END IF;
    IF num_nonnulls(s.token, s.channel) <> 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'token', CONSTRAINT = 'MissingDeviceToken',
            MESSAGE = place || CASE WHEN s.token IS NULL THEN 'there is no token' ELSE 'there are both a token and a channel' END, HINT = 'Give a token for one device, or a channel for a broadcast.';
    END IF;
    IF length(s.token) NOT BETWEEN 2 AND 200 OR length(s.token) % 2 <> 0 OR s.token ~ '[^0-9A-Fa-f]' THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'token', CONSTRAINT = 'BadDeviceToken',
            MESSAGE = place || format('the token has %s characters, or others than hex digits', length(s.token)), HINT = 'A device token has an even number of hex digits, 2 to 200, and nothing between them.';
    END IF;
    IF length(s.channel) NOT BETWEEN 4 AND 100 OR length(s.channel) % 4 <> 0 OR s.channel !~ '^[0-9A-Za-z+/]+={0,2}$' THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'channel', CONSTRAINT = 'BadChannelId',
            MESSAGE = place || 'the channel is no channel id', HINT = 'Give the base64 text that Apple gave when the channel was created.';
    END IF;
    IF s.payload IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'payload', CONSTRAINT = 'PayloadEmpty',
            MESSAGE = place || 'the payload is missing', HINT = 'Give a JSON object, such as {"aps": {"alert": "Hi"}}.';
    END IF;
    IF jsonb_typeof(s.payload) <> 'object' THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'payload', CONSTRAINT = 'PayloadNotJSON',
            MESSAGE = place || format('the payload is a JSON %s and not an object', jsonb_typeof(s.payload)), HINT = 'Give a JSON object, such as {"aps": {"alert": "Hi"}}.';
    END IF;
    size := octet_length(s.payload::text);
    IF size > most THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'payload', CONSTRAINT = 'PayloadTooLarge',
            MESSAGE = place || format('the payload has %s bytes as text', size), HINT = 'At most 4096 bytes, or 5120 with push type voip or for a channel, with the spaces that jsonb writes.';
    END IF;
    IF s.push_type NOT IN ('alert', 'background', 'location', 'voip', 'complication', 'fileprovider', 'mdm', 'liveactivity', 'pushtotalk', 'controls', 'widgets') THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'push_type', CONSTRAINT = 'InvalidPushType',
            MESSAGE = place || format('there is no push type %s', quote_literal(left(s.push_type, 64))), HINT = 'Give alert, background, liveactivity or another of Apple''s types, or none.';
    END IF;
    IF s.channel IS NOT NULL AND s.push_type <> 'liveactivity' THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'push_type', CONSTRAINT = 'InvalidPushType',
            MESSAGE = place || format('a broadcast can''t have push type %s', s.push_type), HINT = 'Leave it out, or give liveactivity.';
    END IF;
    IF s.priority NOT IN (10, 5, 1) THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'priority', CONSTRAINT = 'BadPriority',
            MESSAGE = place || format('there is no priority %s', s.priority), HINT = 'Give 10, 5 or 1, or none.';
    END IF;
    IF s.guarantee NOT IN ('at-least-once', 'at-most-once') THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'guarantee', CONSTRAINT = 'BadGuarantee',
            MESSAGE = place || format('there is no guarantee %s', quote_literal(left(s.guarantee, 64))), HINT = 'Give at-least-once or at-most-once, or none for the first.';
    END IF;
    IF s.environment NOT IN ('production', 'sandbox') THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'environment', CONSTRAINT = 'BadEnvironment',
            MESSAGE = place || format('there is no environment %s', quote_literal(left(s.environment, 64))), HINT = 'Give production or sandbox, or none.';
    END IF;
    IF s.newest_wins AND s.collapse_id IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'newest_wins', CONSTRAINT = 'BadNewestWins',
            MESSAGE = place || 'the newest is to win, and no collapse_id says among which', HINT = 'Give a collapse_id, or leave newest_wins out.';
    END IF;
    IF s.collapse_id IS NOT NULL AND (s.channel IS NOT NULL OR octet_length(s.collapse_id) NOT BETWEEN 1 AND 64 OR s.collapse_id ~ '^ | $|[\x01-\x1f\x7f]') THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'collapse_id', CONSTRAINT = 'BadCollapseId',
            MESSAGE = place || format('the collapse_id has %s bytes, or begins or ends with a space, or has control characters, or is a broadcast''s', octet_length(s.collapse_id)), HINT = 'A collapse id has 1 to 64 bytes, and a broadcast has none.';
    END IF;
    IF octet_length(s.tag) NOT BETWEEN 1 AND 256 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'tag', CONSTRAINT = 'TagTooLong',
            MESSAGE = place || format('the tag has %s bytes', octet_length(s.tag)), HINT = 'A tag has 1 to 256 bytes. Leave it out for none.';
    END IF;
    IF octet_length(s.context) > 4096 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'context', CONSTRAINT = 'ContextTooLong',
            MESSAGE = place || format('the context has %s bytes', octet_length(s.context)), HINT = 'A context has at most 4096 bytes.';
    END IF;
    IF octet_length(s.producer) NOT BETWEEN 1 AND 60 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'producer', CONSTRAINT = 'BadProducerName',
            MESSAGE = place || format('the producer has %s bytes', octet_length(s.producer)), HINT = 'The name of a producer has 1 to 60 bytes here.';
    END IF;

    IF coalesce(s.expiration, s.try_until, s.deliver_after, s.token_registered_at) IS NOT NULL
        OR s.deliver_within IS NOT NULL THEN
    IF s.expiration > 'epoch' AND s.expiration <= clock_timestamp() OR s.expiration < 'epoch' OR NOT isfinite(s.expiration) THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'expiration', CONSTRAINT = 'BadExpirationDate',
            MESSAGE = place || format('the expiration %s is past', s.expiration), HINT = 'Give a time to come, or ''epoch'' for one attempt with nothing stored, or none.';
    END IF;
    IF s.try_until <= clock_timestamp() OR NOT isfinite(s.try_until) OR s.expiration <> 'epoch' AND s.try_until IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'try_until', CONSTRAINT = 'BadExpirationDate',
            MESSAGE = place || format('it can''t be tried until %s', s.try_until), HINT = 'Give a time to come, and no expiration beside it but ''epoch''.';
    END IF;
    IF s.deliver_after > clock_timestamp() + interval '366 days' OR NOT isfinite(s.deliver_after) THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'deliver_after', CONSTRAINT = 'BadDeliverAfter',
            MESSAGE = place || format('it is to be delivered after %s', s.deliver_after), HINT = 'At most 366 days ahead.';
    END IF;
    IF s.deliver_after >= coalesce(s.try_until, nullif(s.expiration, 'epoch')) THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'deliver_after', CONSTRAINT = 'BadDeliverAfter',
            MESSAGE = place || format('it expires before %s, when it may be delivered', s.deliver_after), HINT = 'Give a later expiration or an earlier time.';
    END IF;
    IF s.token_registered_at > clock_timestamp() + interval '1 day' OR NOT isfinite(s.token_registered_at) THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'token_registered_at', CONSTRAINT = 'BadTokenRegistrationTime',
            MESSAGE = place || format('the token is said to have been registered at %s', s.token_registered_at), HINT = 'It is a time that is past, by a clock that is right.';
    END IF;
    IF s.deliver_within IS NOT NULL AND NOT "holdfast".are_hours(s.deliver_within) THEN
        RAISE EXCEPTION USING ERRCODE = 'HF010', COLUMN = 'deliver_within', CONSTRAINT = 'BadDeliverWithin',
            MESSAGE = place || format('%s are no delivery hours', quote_literal(left(s.deliver_within, 100))), HINT = 'Write HH:MM-HH:MM ZONE, such as 09:00-18:00 Europe/Berlin.';
    END IF;

    END IF;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".check_submission(s "holdfast".submission, place text) FROM PUBLIC;
CREATE FUNCTION "holdfast".insert_submissions(given "holdfast".submission[]) RETURNS uuid[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    present int2;
    made uuid[];
BEGIN
    SELECT t.slot INTO present FROM "holdfast".slots t WHERE t.name = 'outbox';
    WITH inserted AS (
        INSERT INTO "holdfast".outbox AS o (slot, apns_id, is_assigned, token, channel, topic, payload,
            push_type, priority, expiration, try_until, collapse_id, tag, context, producer, is_once,
            environment, deliver_after, deliver_within, newest_wins, token_registered_at)
        SELECT CASE WHEN s.deliver_after > now() + interval '1 minute' THEN 4 ELSE present END,
            coalesce(s.id, gen_random_uuid()), s.id IS NULL, decode(s.token, 'hex'), s.channel, s.topic,
            s.payload::text, CASE WHEN s.channel IS NULL THEN s.push_type ELSE 'liveactivity' END, s.priority,
            CASE WHEN s.channel IS NULL OR s.expiration > 'epoch' THEN floor(extract(epoch FROM s.expiration)) END,
            floor(extract(epoch FROM s.try_until)), s.collapse_id, s.tag, nullif(s.context, ''),
            coalesce('sql:' || s.producer, 'sql'), coalesce(s.guarantee = 'at-most-once', false),
            s.environment, s.deliver_after, s.deliver_within, coalesce(s.newest_wins, false),
            s.token_registered_at
        FROM unnest(given) WITH ORDINALITY AS s ORDER BY s.ordinality
        RETURNING o.id, o.apns_id)
    SELECT array_agg(i.apns_id ORDER BY i.id) INTO made FROM inserted i;
    RETURN made;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".insert_submissions(given "holdfast".submission[]) FROM PUBLIC;
CREATE FUNCTION "holdfast".submit(topic text, token text DEFAULT NULL, payload jsonb DEFAULT NULL, channel text DEFAULT NULL, id uuid DEFAULT NULL, push_type text DEFAULT NULL, priority int4 DEFAULT NULL, expiration timestamptz DEFAULT NULL, try_until timestamptz DEFAULT NULL, collapse_id text DEFAULT NULL, tag text DEFAULT NULL, context text DEFAULT NULL, producer text DEFAULT NULL, guarantee text DEFAULT NULL, environment text DEFAULT NULL, deliver_after timestamptz DEFAULT NULL, deliver_within text DEFAULT NULL, newest_wins bool DEFAULT NULL, token_registered_at timestamptz DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    given "holdfast".submission := ROW(submit.topic, submit.token, submit.payload, submit.channel, submit.id, submit.push_type, submit.priority, submit.expiration, submit.try_until, submit.collapse_id, submit.tag, submit.context, submit.producer, submit.guarantee, submit.environment, submit.deliver_after, submit.deliver_within, submit.newest_wins, submit.token_registered_at);
BEGIN
    PERFORM "holdfast".check_submission(given, '');
    RETURN ("holdfast".insert_submissions(ARRAY[given]))[1];
END
$$;
REVOKE ALL ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) FROM PUBLIC;
CREATE FUNCTION "holdfast".submit_many(notifications jsonb) RETURNS uuid[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    given "holdfast".submission[] := '{}';
    one "holdfast".submission;
    element jsonb;
    place int4 := -1;
    words text;
BEGIN
    IF notifications IS NULL OR jsonb_typeof(notifications) <> 'array' THEN
        RAISE EXCEPTION USING ERRCODE = 'HF011', MESSAGE = 'the notifications are no JSON array', HINT = 'Give an array of objects with the arguments of submit as their keys.';
    END IF;
    IF jsonb_array_length(notifications) > 10000 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF011', MESSAGE = format('there are %s notifications', jsonb_array_length(notifications)), HINT = 'Give at most 10000 at once: 100 to 1000 are fast.';
    END IF;
    FOR element IN SELECT e.value FROM jsonb_array_elements(notifications) WITH ORDINALITY AS e
        ORDER BY e.ordinality
    LOOP
        place := place + 1;
        IF jsonb_typeof(element) <> 'object' THEN
            RAISE EXCEPTION USING ERRCODE = 'HF011', MESSAGE = format('notifications[%s] is no object', place), HINT = 'Give objects with the arguments of submit as their keys.';
        END IF;
        IF element - ARRAY['topic', 'token', 'payload', 'channel', 'id', 'push_type', 'priority', 'expiration', 'try_until', 'collapse_id', 'tag', 'context', 'producer', 'guarantee', 'environment', 'deliver_after', 'deliver_within', 'newest_wins', 'token_registered_at'] <> '{}' THEN
            SELECT min(k) INTO words FROM jsonb_object_keys(element - ARRAY['topic', 'token', 'payload', 'channel', 'id', 'push_type', 'priority', 'expiration', 'try_until', 'collapse_id', 'tag', 'context', 'producer', 'guarantee', 'environment', 'deliver_after', 'deliver_within', 'newest_wins', 'token_registered_at']) AS k;
            RAISE EXCEPTION USING ERRCODE = 'HF011', MESSAGE = format('notifications[%s] has the key %s', place, quote_literal(left(words, 64))), HINT = 'The keys are the arguments of submit, such as topic and collapse_id.';
        END IF;
        one := jsonb_populate_record(NULL::"holdfast".submission, element);
        IF element -> 'payload' = 'null' THEN one.payload := NULL; END IF;
        PERFORM "holdfast".check_submission(one, format('notifications[%s]: ', place));
        given := given || one;
    END LOOP;
    RETURN coalesce("holdfast".insert_submissions(given), '{}');
EXCEPTION WHEN data_exception THEN
    GET STACKED DIAGNOSTICS words = MESSAGE_TEXT;
    RAISE EXCEPTION USING ERRCODE = 'HF011', MESSAGE = format('notifications[%s]: %s', place, words), HINT = 'Give values that the arguments of submit can take.';
END
$$;
REVOKE ALL ON FUNCTION "holdfast".submit_many(jsonb) FROM PUBLIC;
CREATE FUNCTION "holdfast".cancel(id uuid) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM "holdfast".outbox o WHERE o.apns_id = cancel.id AND o.journal IS NULL;
    RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".cancel(uuid) FROM PUBLIC;
CREATE FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    ids int8[];
    first int8;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    SELECT o.id INTO first FROM "holdfast".outbox o WHERE o.slot < 4 AND o.journal IS NULL ORDER BY o.id LIMIT 1;
    IF first IS NULL AND NOT EXISTS (SELECT FROM "holdfast".outbox o WHERE o.slot = 4 AND o.journal IS NULL AND o.deliver_after < now() + interval '30 seconds') THEN RETURN; END IF;
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    ids := ARRAY(SELECT o.id FROM "holdfast".outbox o WHERE o.slot = 4 AND o.journal IS NULL AND o.deliver_after < now() + interval '30 seconds'
            ORDER BY o.deliver_after LIMIT most FOR UPDATE SKIP LOCKED)
        || ARRAY(SELECT o.id FROM "holdfast".outbox o WHERE o.slot < 4 AND o.journal IS NULL AND o.id >= first
            ORDER BY o.id LIMIT most FOR UPDATE SKIP LOCKED);
    ids := ids[1:most];
    RETURN QUERY UPDATE "holdfast".outbox o SET journal = of_journal WHERE o.id = ANY(ids)
        RETURNING o.id, o.apns_id, o.is_assigned, o.token, o.channel, o.topic, o.payload, o.push_type, o.priority, o.expiration, o.try_until, o.collapse_id, o.tag, o.context, o.producer, o.is_once, o.environment, floor(extract(epoch FROM o.deliver_after) * 1000)::int8, o.deliver_within, o.newest_wins, floor(extract(epoch FROM o.token_registered_at) * 1000)::int8;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claim_outbox(of_journal int4, of_epoch int8, most int4) FROM PUBLIC;
CREATE FUNCTION "holdfast".claimed_outbox(of_journal int4, of_epoch int8, after_id int8, most int4) RETURNS TABLE (id int8, apns_id uuid, is_assigned bool, token bytea, channel text, topic text, payload text, push_type text, priority int2, expiration int8, try_until int8, collapse_id text, tag text, context text, producer text, is_once bool, environment text, deliver_after int8, deliver_within text, newest_wins bool, token_registered_at int8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    RETURN QUERY SELECT o.id, o.apns_id, o.is_assigned, o.token, o.channel, o.topic, o.payload, o.push_type, o.priority, o.expiration, o.try_until, o.collapse_id, o.tag, o.context, o.producer, o.is_once, o.environment, floor(extract(epoch FROM o.deliver_after) * 1000)::int8, o.deliver_within, o.newest_wins, floor(extract(epoch FROM o.token_registered_at) * 1000)::int8 FROM "holdfast".outbox o
        WHERE o.journal = of_journal AND o.id > after_id ORDER BY o.id LIMIT most;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".claimed_outbox(of_journal int4, of_epoch int8, after_id int8, most int4) FROM PUBLIC;
CREATE FUNCTION "holdfast".release_outbox(of_journal int4, of_epoch int8, ids int8[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    UPDATE "holdfast".outbox o SET journal = NULL WHERE o.id = ANY(ids) AND o.journal = of_journal;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".release_outbox(of_journal int4, of_epoch int8, ids int8[]) FROM PUBLIC;
CREATE FUNCTION "holdfast".keep_commit_taking(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[], taken int8[]) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found int8;
BEGIN
    IF "holdfast".keep_commit(of_journal, of_epoch, of_number, of_parts) THEN RETURN true; END IF;
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    DELETE FROM "holdfast".outbox o WHERE o.id = ANY(taken) AND o.journal = of_journal;
    GET DIAGNOSTICS found = ROW_COUNT;
    IF found <> cardinality(taken) THEN
        RAISE EXCEPTION USING ERRCODE = 'HF008', MESSAGE = format(
            'commit %s takes %s rows of the outbox, of which this journal has %s', of_number,
            cardinality(taken), found);
    END IF;
    RETURN false;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".keep_commit_taking(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[], taken int8[]) FROM PUBLIC;
CREATE FUNCTION "holdfast".settle_outbox(of_journal int4, of_epoch int8, given jsonb) RETURNS int8
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
        SELECT t.slot, of_journal, g.apns_id, 'rejected', r.reason, r.detail,
            timestamptz 'epoch' + r.since * interval '1 millisecond', g.at, now(), 0, g.topic,
            encode(g.token, 'hex'), g.channel, CASE WHEN g.producer LIKE 'sql:%' THEN substr(g.producer, 5) WHEN g.producer <> 'sql' THEN g.producer END, g.tag, g.context
        FROM gone g JOIN jsonb_to_recordset(given) AS r(id int8, reason text, detail text, since int8)
            ON r.id = g.id, "holdfast".slots t WHERE t.name = 'outcomes' AND r.reason IS NOT NULL
        ORDER BY g.id
    )
    SELECT count(*) INTO settled FROM gone;
    RETURN settled;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".settle_outbox(of_journal int4, of_epoch int8, given jsonb) FROM PUBLIC;
CREATE FUNCTION "holdfast".outcome_cursor(of_journal int4, of_epoch int8) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    RETURN coalesce((SELECT c.place FROM "holdfast".outcome_cursors c WHERE c.journal = of_journal), 0);
END
$$;
REVOKE ALL ON FUNCTION "holdfast".outcome_cursor(of_journal int4, of_epoch int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".put_outcomes(of_journal int4, of_epoch int8, from_place int8, to_place int8, given jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM "holdfast".journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    INSERT INTO "holdfast".outcome_cursors VALUES (of_journal, 0) ON CONFLICT DO NOTHING;
    UPDATE "holdfast".outcome_cursors c SET place = to_place
        WHERE c.journal = of_journal AND c.place = from_place AND to_place > from_place;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF007', MESSAGE = format(
            'the outcomes of the journal are not at %s any more', from_place);
    END IF;
    INSERT INTO "holdfast".outcomes (slot, journal, id, outcome, reason, detail, status, since, submitted_at, sent_at, ended_at, attempts, topic, token, channel, address, producer, tag, context, tag_bytes, context_bytes, unique_id)
    SELECT t.slot, of_journal, r.id, r.outcome, r.reason, r.detail, r.status, timestamptz 'epoch' + r.since * interval '1 millisecond',
        timestamptz 'epoch' + r.submitted_at * interval '1 millisecond', timestamptz 'epoch' + r.sent_at * interval '1 millisecond', timestamptz 'epoch' + r.ended_at * interval '1 millisecond', r.attempts, r.topic, r.token,
        r.channel, r.address, CASE WHEN r.producer LIKE 'sql:%' THEN substr(r.producer, 5) WHEN r.producer <> 'sql' THEN r.producer END, r.tag, r.context, r.tag_bytes,
        r.context_bytes, r.unique_id
    FROM jsonb_to_recordset(given) AS r(place int8, id uuid, outcome text, reason text, detail text,
        status int4, since int8, submitted_at int8, sent_at int8, ended_at int8, attempts int4, topic text,
        token text, channel text, address text, producer text, tag text, context text, tag_bytes bytea,
        context_bytes bytea, unique_id text), "holdfast".slots t
    WHERE t.name = 'outcomes' ORDER BY r.place;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".put_outcomes(of_journal int4, of_epoch int8, from_place int8, to_place int8, given jsonb) FROM PUBLIC;
CREATE FUNCTION "holdfast".take_outcomes(most int4 DEFAULT 1000, of_producer text DEFAULT NULL) RETURNS TABLE (number int8, id uuid, outcome text, reason text, detail text, status int4, since timestamptz, submitted_at timestamptz, sent_at timestamptz, ended_at timestamptz, attempts int4, topic text, token text, channel text, address text, producer text, tag text, context text, tag_bytes bytea, context_bytes bytea, unique_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    numbers int8[];
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    numbers := ARRAY(SELECT o.number FROM "holdfast".outcomes o
        WHERE of_producer IS NULL OR o.producer = of_producer
        ORDER BY o.number LIMIT greatest(least(most, 10000), 0) FOR UPDATE SKIP LOCKED);
    RETURN QUERY WITH gone AS (
        DELETE FROM "holdfast".outcomes o WHERE o.number = ANY(numbers) RETURNING o.*
    ) SELECT o.number, o.id, o.outcome, o.reason, o.detail, o.status, o.since, o.submitted_at, o.sent_at, o.ended_at, o.attempts, o.topic, o.token, o.channel, o.address, o.producer, o.tag, o.context, o.tag_bytes, o.context_bytes, o.unique_id FROM gone o ORDER BY o.number;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".take_outcomes(int4, text) FROM PUBLIC;
CREATE FUNCTION "holdfast".trim_outcomes(most_age interval, most_rows int8) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last int8;
    numbers int8[];
    removed int8;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('jit', 'off', true);
    SELECT o.number - most_rows INTO last FROM "holdfast".outcomes o ORDER BY o.number DESC LIMIT 1;
    numbers := ARRAY(SELECT s.number FROM (
            SELECT o.number, o.put_at FROM "holdfast".outcomes o ORDER BY o.number LIMIT 10000) s
        WHERE s.number <= last OR s.put_at < now() - most_age);
    IF cardinality(numbers) = 0 THEN RETURN 0; END IF;
    numbers := ARRAY(SELECT o.number FROM "holdfast".outcomes o WHERE o.number = ANY(numbers)
        FOR UPDATE SKIP LOCKED);
    DELETE FROM "holdfast".outcomes o WHERE o.number = ANY(numbers);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".trim_outcomes(most_age interval, most_rows int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".turn_slots() RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    present record;
    of_table text;
    is_empty bool;
    empty int2;
    turned bool := false;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('holdfast slots ' || 'holdfast', 0)) THEN
        RETURN false;
    END IF;
    PERFORM set_config('lock_timeout', '20ms', true);
    FOR present IN SELECT t.name, t.slot FROM "holdfast".slots t ORDER BY t.name LOOP
        empty := NULL;
        FOR of_slot IN 0..3 LOOP
            of_table := format('"holdfast".%s_%s', present.name, of_slot);
            CONTINUE WHEN of_slot = present.slot;
            IF pg_relation_size(of_table::regclass) > 0 THEN
                EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', of_table) INTO is_empty;
                CONTINUE WHEN NOT is_empty;
                BEGIN
                    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', of_table);
                    EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', of_table) INTO is_empty;
                    CONTINUE WHEN NOT is_empty;
                    EXECUTE 'TRUNCATE ' || of_table;
                    turned := true;
                EXCEPTION WHEN lock_not_available THEN CONTINUE;
                END;
            END IF;
            empty := of_slot;
        END LOOP;
        of_table := format('"holdfast".%s_%s', present.name, present.slot);
        IF empty IS NOT NULL AND pg_table_size(of_table::regclass) > 8388608 THEN
            UPDATE "holdfast".slots t SET slot = empty WHERE t.name = present.name;
            turned := true;
        END IF;
    END LOOP;
    RETURN turned;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".turn_slots() FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (4, 1);
COMMIT;

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
COMMIT;

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
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
