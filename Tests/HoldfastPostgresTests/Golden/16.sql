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
CREATE OR REPLACE FUNCTION "holdfast".check_submission(s "holdfast".submission, place text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
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
            MESSAGE = place || format('the expiration %s is ' || CASE WHEN isfinite(s.expiration) THEN 'past' ELSE 'no time' END, s.expiration), HINT = 'Give a time to come, or ''epoch'' for one attempt with nothing stored, or none.';
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
INSERT INTO "holdfast".schema (version, readable_from) VALUES (16, 7);
COMMIT;

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
    IF present <> 16 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 16',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
GRANT USAGE ON SCHEMA "holdfast" TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit(text, text, jsonb, text, uuid, text, int4, timestamptz, timestamptz, text, text, text, text, text, text, timestamptz, text, bool, timestamptz) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".submit_many(jsonb) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".cancel(uuid) TO "app";
GRANT EXECUTE ON FUNCTION "holdfast".take_outcomes(int4, text) TO "app";
COMMIT;
