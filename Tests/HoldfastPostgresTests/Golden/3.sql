BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 2 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 2',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
ALTER TABLE "holdfast".journals ADD COLUMN is_closed bool NOT NULL DEFAULT false;
CREATE FUNCTION "holdfast".list_journals() RETURNS TABLE (id int4, name text, host text, epoch int8, n int8, is_free bool, is_closed bool)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby does not know who owns a journal';
    END IF;
    RETURN QUERY SELECT j.id, j.name, j.host, b.epoch, b.n, j.session_pid IS NULL, j.is_closed
        FROM "holdfast".journals j JOIN "holdfast".beats b ON b.journal = j.id ORDER BY j.id;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".list_journals() FROM PUBLIC;
CREATE FUNCTION "holdfast".close_journal(of_journal int4, of_epoch int8) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE "holdfast".beats b SET epoch = of_epoch + 1, n = 0
        WHERE b.journal = of_journal AND b.epoch = of_epoch;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    UPDATE "holdfast".journals j SET epoch = of_epoch + 1, session_pid = NULL, session_start = NULL,
        is_closed = true WHERE j.id = of_journal;
    RETURN of_epoch + 1;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".close_journal(of_journal int4, of_epoch int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".accept_journal(of_journal int4, of_epoch int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE "holdfast".journals j SET is_closed = false WHERE j.id = of_journal AND j.epoch = of_epoch;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".accept_journal(of_journal int4, of_epoch int8) FROM PUBLIC;
CREATE FUNCTION "holdfast".restore_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4) RETURNS void
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
END
$$;
REVOKE ALL ON FUNCTION "holdfast".restore_checkpoint(of_journal int4, of_epoch int8, of_number int8, of_sum bytea, of_chunks int4) FROM PUBLIC;
CREATE FUNCTION "holdfast".end_sessions(of_journal int4) RETURNS int8
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
        WHERE a.usename = current_user AND a.datname = current_database() AND a.pid <> pg_backend_pid()
        AND a.application_name ~ format('^holdfast [a-z]+ of journal %s$', of_journal));
EXCEPTION WHEN insufficient_privilege THEN RETURN 0;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".end_sessions(of_journal int4) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (3, 1);
COMMIT;

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
COMMIT;
