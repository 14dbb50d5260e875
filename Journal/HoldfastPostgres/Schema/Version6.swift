extension Migration {
    /// The identities of notifications, for all hosts. See ManyMachines.md.
    static let version6 = Migration(
        version: 6, readableFrom: 1,
        functions: [
            "keep_commit_claiming(int4, int8, int8, bytea[], int8[], uuid[], int8[])", "identity_key()",
            "turn_identities(int8, int8)", "restore_identities(int4, int8, uuid[], int8[])",
        ]
    ) { schema in
        identityTables(schema) + claimingIdentities(schema) + identityKey(schema) + turningIdentities(schema)
            + restoringIdentities(schema)
    }

    /// The partitions of `identities`: one is filled, two are remembered beside it, and one is spare, since somebody may still
    /// read it.
    private static let identitySlotCount = 4
    /// In a partition, with the place of the row in its page.
    private static let identityByteCount = 60

    /// Rows are added, and a partition is truncated as a whole, so there is nothing to vacuum. The one row of `identity_slots`
    /// says which partition is filled, and when the filling of each began.
    private static func identityTables(_ schema: String) -> [String] {
        [
            """
            CREATE TABLE \(schema).identity_slots (present int2 NOT NULL, began timestamptz[] NOT NULL, key uuid NOT NULL)
                WITH (fillfactor = 50)
            """,
            """
            INSERT INTO \(schema).identity_slots
                SELECT 0, pg_catalog.array_fill(pg_catalog.now(), ARRAY[\(identitySlotCount)]), pg_catalog.encode(substring(
                    pg_catalog.sha256(pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
                        || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())) FROM 1 FOR 16), 'hex')::uuid
            """,
            """
            CREATE TABLE \(schema).identities (
                slot int2 NOT NULL,
                journal int4 NOT NULL,
                uid int8 NOT NULL,
                identity uuid NOT NULL
            ) PARTITION BY LIST (slot)
            """,
        ]
            + (0..<identitySlotCount).flatMap { slot in
                [
                    """
                    CREATE TABLE \(schema).identities_\(slot) PARTITION OF \(schema).identities FOR VALUES IN (\(slot))
                        WITH (autovacuum_enabled = off)
                    """,
                    "CREATE UNIQUE INDEX ON \(schema).identities_\(slot) (identity)",
                ]
            }
    }

    /// Statements that find the partition that is filled, which stays so until the end of the transaction.
    private static func holdingSlot(_ schema: String) -> String {
        """
        \(indexesOnly)
            LOCK TABLE \(schema).identity_slots IN ROW SHARE MODE;
            SELECT t.present INTO of_slot FROM \(schema).identity_slots t;
        """
    }

    /// As `keep_commit_taking`, for a commit that adds identities. Returns those that other commits have; then it keeps nothing,
    /// and the lock makes the answer wait for what those commits wrote, as it does in `keep_commit`.
    ///
    /// What a journal has claimed itself is of a commit that is kept and repeated, or forgotten by the journal, which may have it
    /// again. What another commit adds at the same instant is found by the index, which waits for its end. Sorted, so that two that
    /// add the same don't wait for each other.
    private static func claimingIdentities(_ schema: String) -> [String] {
        function(
            schema,
            """
            keep_commit_claiming(of_journal int4, of_epoch int8, of_number int8, of_parts bytea[], taken int8[], \
            names uuid[], uids int8[])
            """, returns: "TABLE (identity uuid, uid int8)",
            """
            DECLARE
                of_slot int2;
                holder int4;
                own uuid[] := '{}';
                is_repeat bool := false;
                made int8;
            BEGIN
            \(holdingSlot(schema))
                FOR identity, uid, holder IN
                    SELECT i.identity, i.uid, i.journal FROM \(schema).identities i WHERE i.identity = ANY(names)
                LOOP
                    IF holder = of_journal THEN
                        own := own || identity;
                    ELSE
                        is_repeat := true;
                        RETURN NEXT;
                    END IF;
                END LOOP;
                IF is_repeat THEN
            \(owning(schema))
                    RETURN;
                END IF;
                IF (CASE WHEN cardinality(taken) = 0 THEN \(schema).keep_commit(of_journal, of_epoch, of_number, of_parts)
                    ELSE \(schema).keep_commit_taking(of_journal, of_epoch, of_number, of_parts, taken) END) THEN RETURN; END IF;
                IF own <> '{}' THEN
                    DELETE FROM \(schema).identities i WHERE i.identity = ANY(own) AND i.journal = of_journal;
                END IF;
                INSERT INTO \(schema).identities (slot, journal, identity, uid)
                    SELECT of_slot, of_journal, u.identity, u.uid FROM unnest(names, uids) AS u(identity, uid)
                    ORDER BY u.identity
                    ON CONFLICT DO NOTHING;
                GET DIAGNOSTICS made = ROW_COUNT;
                IF made <> cardinality(names) THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF014', MESSAGE = format(
                        'of the %s identities of commit %s, others have claimed %s meanwhile', cardinality(names), of_number,
                        cardinality(names) - made);
                END IF;
            END
            """)
    }

    private static func identityKey(_ schema: String) -> [String] {
        function(
            schema, "identity_key()", returns: "uuid",
            """
            BEGIN
                RETURN (SELECT t.key FROM \(schema).identity_slots t);
            END
            """)
    }

    /// Truncates partitions that nobody has to remember, and has the next one filled where the present one is half as old, or
    /// half as large, as what is to be remembered. Commits that add identities wait meanwhile, since none may be looked for where
    /// another commit does not look: a turn waits for those under way, or is made another time. The last page of a partition
    /// counts as empty.
    private static func turningIdentities(_ schema: String) -> [String] {
        function(
            schema, "turn_identities(age_milliseconds int8, most int8)", returns: "bool",
            """
            DECLARE
                own record;
                age interval := age_milliseconds * interval '1 millisecond';
                place int2;
                size int8;
                newer int8 := 0;
                old int2[] := '{}';
                next int2;
                next_size int8;
                is_due bool;
                turned bool := false;
            BEGIN
                IF NOT pg_try_advisory_xact_lock(hashtextextended('holdfast identities ' || '\(unquoted(schema))', 0)) THEN
                    RETURN false;
                END IF;
                SELECT * INTO own FROM \(schema).identity_slots;
                next := (own.present + 1) % \(identitySlotCount);
                FOR back IN 0..\(identitySlotCount - 1) LOOP
                    place := (own.present + \(identitySlotCount) - back) % \(identitySlotCount);
                    size := pg_relation_size(format('\(schema).identities_%s', place)::regclass);
                    IF back = 0 THEN
                        is_due := size > 0 AND (size >= most * \(identityByteCount / 2) OR own.began[place + 1] < now() - age / 2);
                    ELSIF size > 0 AND (newer >= most * \(identityByteCount)
                        OR own.began[(place + 1) % \(identitySlotCount) + 1] < now() - age) THEN
                        old := old || place;
                    END IF;
                    newer := newer + greatest(size - 8192, 0);
                    IF place = next THEN next_size := size; END IF;
                END LOOP;
                is_due := is_due AND (next_size = 0 OR next = ANY(old));
                IF NOT is_due AND cardinality(old) = 0 THEN RETURN false; END IF;
                PERFORM set_config('lock_timeout', '20ms', true);
                BEGIN
                    LOCK TABLE \(schema).identity_slots IN EXCLUSIVE MODE;
                EXCEPTION WHEN lock_not_available THEN RETURN false;
                END;
                FOREACH place IN ARRAY old LOOP
                    BEGIN
                        EXECUTE format('TRUNCATE \(schema).identities_%s', place);
                        turned := true;
                    EXCEPTION WHEN lock_not_available THEN CONTINUE;
                    END;
                END LOOP;
                IF is_due AND pg_relation_size(format('\(schema).identities_%s', next)::regclass) = 0 THEN
                    UPDATE \(schema).identity_slots t SET present = next, began[next + 1] = now();
                    turned := true;
                END IF;
                RETURN turned;
            END
            """)
    }

    /// Adds what the copy of a journal remembers after the database has lost commits.
    private static func restoringIdentities(_ schema: String) -> [String] {
        function(
            schema, "restore_identities(of_journal int4, of_epoch int8, names uuid[], uids int8[])", returns: "void",
            """
            DECLARE
                of_slot int2;
            BEGIN
            \(owning(schema))
            \(holdingSlot(schema))
                INSERT INTO \(schema).identities (slot, journal, identity, uid)
                    SELECT of_slot, of_journal, u.identity, u.uid FROM unnest(names, uids) AS u(identity, uid)
                    WHERE NOT EXISTS (SELECT FROM \(schema).identities i WHERE i.identity = u.identity)
                    ORDER BY u.identity ON CONFLICT DO NOTHING;
            END
            """)
    }
}
