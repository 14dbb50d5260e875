BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for a database without it',
            HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
    END IF;
END $$;
DO $$ BEGIN
    IF pg_catalog.to_regnamespace('holdfast') IS NULL THEN CREATE SCHEMA "holdfast"; END IF;
END $$;
CREATE TABLE "holdfast".schema (
    version int4 PRIMARY KEY,
    readable_from int4 NOT NULL,
    at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    by text NOT NULL DEFAULT session_user
);
CREATE TABLE "holdfast".journals (
    id int4 GENERATED ALWAYS AS IDENTITY (MAXVALUE 32767) PRIMARY KEY,
    name text NOT NULL UNIQUE,
    host text,
    epoch int8 NOT NULL DEFAULT 0,
    session_pid int4,
    session_start timestamptz
);
CREATE TABLE "holdfast".beats (
    journal int4 PRIMARY KEY REFERENCES "holdfast".journals,
    epoch int8 NOT NULL,
    n int8 NOT NULL
) WITH (fillfactor = 50);
CREATE FUNCTION "holdfast".schema_version() RETURNS TABLE (version int4, readable_from int4)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT s.version, s.readable_from FROM "holdfast".schema s ORDER BY s.version DESC LIMIT 1;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".schema_version() FROM PUBLIC;
CREATE FUNCTION "holdfast".create_journal(of_name text) RETURNS int4
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found int4;
BEGIN
    SELECT j.id INTO found FROM "holdfast".journals j WHERE j.name = of_name;
    IF found IS NOT NULL THEN RETURN found; END IF;
    INSERT INTO "holdfast".journals (name) VALUES (of_name) ON CONFLICT (name) DO NOTHING RETURNING id INTO found;
    IF found IS NULL THEN
        SELECT j.id INTO found FROM "holdfast".journals j WHERE j.name = of_name;
        RETURN found;
    END IF;
    INSERT INTO "holdfast".beats (journal, epoch, n) VALUES (found, 0, 0);
    RETURN found;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".create_journal(of_name text) FROM PUBLIC;
CREATE FUNCTION "holdfast".look(of_journal int4) RETURNS TABLE (epoch int8, n int8, is_free bool, host text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'a standby does not know who owns a journal';
    END IF;
    RETURN QUERY SELECT b.epoch, b.n, j.session_pid IS NULL, j.host
        FROM "holdfast".journals j JOIN "holdfast".beats b ON b.journal = j.id WHERE j.id = of_journal;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".look(of_journal int4) FROM PUBLIC;
CREATE FUNCTION "holdfast".take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz) RETURNS TABLE (epoch int8, old_pid int4, old_start timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE "holdfast".beats b SET epoch = seen_epoch + 1, n = 0
        WHERE b.journal = of_journal AND b.epoch = seen_epoch AND b.n = seen_n;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT seen_epoch + 1, j.session_pid, j.session_start INTO epoch, old_pid, old_start
        FROM "holdfast".journals j WHERE j.id = of_journal FOR UPDATE;
    UPDATE "holdfast".journals j SET epoch = seen_epoch + 1, host = new_host, session_pid = pg_backend_pid(),
        session_start = new_start WHERE j.id = of_journal;
    RETURN NEXT;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".take_journal(of_journal int4, seen_epoch int8, seen_n int8, new_host text, new_start timestamptz) FROM PUBLIC;
CREATE FUNCTION "holdfast".end_session(of_pid int4, of_start timestamptz) RETURNS bool
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce((SELECT pg_terminate_backend(a.pid) FROM pg_stat_get_activity(of_pid) a
        WHERE a.pid = of_pid AND a.backend_start = of_start AND a.pid <> pg_backend_pid()), false);
EXCEPTION WHEN insufficient_privilege THEN RETURN false;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".end_session(of_pid int4, of_start timestamptz) FROM PUBLIC;
CREATE FUNCTION "holdfast".beat(of_journal int4, of_epoch int8, of_start timestamptz) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_n int8;
BEGIN
    UPDATE "holdfast".beats b SET n = b.n + 1
        WHERE b.journal = of_journal AND b.epoch = of_epoch RETURNING b.n INTO now_n;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    UPDATE "holdfast".journals j SET session_pid = pg_backend_pid(), session_start = of_start
        WHERE j.id = of_journal AND j.epoch = of_epoch
        AND (j.session_pid, j.session_start) IS DISTINCT FROM (pg_backend_pid(), of_start);
    RETURN now_n;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".beat(of_journal int4, of_epoch int8, of_start timestamptz) FROM PUBLIC;
CREATE FUNCTION "holdfast".release_journal(of_journal int4, of_epoch int8) RETURNS int8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE "holdfast".beats b SET epoch = of_epoch + 1, n = 0
        WHERE b.journal = of_journal AND b.epoch = of_epoch;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
    END IF;
    UPDATE "holdfast".journals j SET epoch = of_epoch + 1, session_pid = NULL, session_start = NULL
        WHERE j.id = of_journal;
    RETURN of_epoch + 1;
END
$$;
REVOKE ALL ON FUNCTION "holdfast".release_journal(of_journal int4, of_epoch int8) FROM PUBLIC;
INSERT INTO "holdfast".schema (version, readable_from) VALUES (1, 1);
COMMIT;

BEGIN;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema holdfast', 0));
DO $$ DECLARE present int4 := 0; BEGIN
    IF pg_catalog.to_regclass('"holdfast".schema') IS NOT NULL THEN
        SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM "holdfast".schema s;
    END IF;
    IF present <> 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'HF018',
            MESSAGE = CASE present WHEN 0 THEN 'schema holdfast is not there'
                ELSE pg_catalog.format('schema holdfast has version %s', present) END
                || ', and these statements are for version 1',
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
COMMIT;
