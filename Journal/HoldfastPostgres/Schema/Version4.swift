extension Migration {
    /// Notifications that applications submit in their own transactions, and the outcomes that they take in theirs: see
    /// ManyMachines.md.
    static let version4 = Migration(
        version: 4, readableFrom: 1,
        functions: [
            "claim_outbox(int4, int8, int4)", "claimed_outbox(int4, int8, int8, int4)",
            "release_outbox(int4, int8, int8[])",
            "keep_commit_taking(int4, int8, int8, bytea[], int8[])", "settle_outbox(int4, int8, jsonb)", "turn_slots()",
            "outcome_cursor(int4, int8)", "put_outcomes(int4, int8, int8, int8, jsonb)",
            "trim_outcomes(interval, int8)",
        ],
        submitting: [
            "submit(\(SubmissionField.types))", "submit_many(jsonb)", "cancel(uuid)", "take_outcomes(int4, text)",
        ]
    ) { schema in
        slots(schema) + outbox(schema) + outcomeTables(schema) + checking(schema) + submitting(schema)
            + claiming(schema) + keepingWhileTaking(schema) + settling(schema) + outcomes(schema) + turning(schema)
    }

    /// The number of partitions of each table that turns. One is filled, one may be pinned by a transaction that goes on for
    /// hours, and others take turns beside it.
    static let slotCount = 4
    /// The partition of the outbox for notifications that may not go out yet. It does not turn.
    static let scheduledSlot = 4

    private static func slots(_ schema: String) -> [String] {
        [
            "CREATE TABLE \(schema).slots (name text PRIMARY KEY, slot int2 NOT NULL) WITH (fillfactor = 50)",
            "INSERT INTO \(schema).slots VALUES ('outbox', 0), ('outcomes', 0)",
        ]
    }

    /// Half of each page is left for the claims, which change no index then.
    private static func outbox(_ schema: String) -> [String] {
        [
            "CREATE SEQUENCE \(schema).outbox_id",
            """
            CREATE TABLE \(schema).outbox (
                slot int2 NOT NULL,
                id int8 NOT NULL DEFAULT pg_catalog.nextval('\(schema).outbox_id'),
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
            ) PARTITION BY LIST (slot)
            """,
        ]
            + (0...scheduledSlot).flatMap { slot in
                [
                    partition(schema, "outbox", slot, settings: "fillfactor = 50, "),
                    "CREATE UNIQUE INDEX ON \(schema).outbox_\(slot) (id)",
                    "CREATE INDEX ON \(schema).outbox_\(slot) (apns_id)",
                ]
            } + ["CREATE INDEX ON \(schema).outbox_\(scheduledSlot) (deliver_after)"]
    }

    private static func outcomeTables(_ schema: String) -> [String] {
        [
            "CREATE TABLE \(schema).outcome_cursors (journal int4 PRIMARY KEY, place int8 NOT NULL) WITH (fillfactor = 50)",
            "CREATE SEQUENCE \(schema).outcome_number",
            """
            CREATE TABLE \(schema).outcomes (
                slot int2 NOT NULL,
                number int8 NOT NULL DEFAULT pg_catalog.nextval('\(schema).outcome_number'),
                put_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
                journal int4 NOT NULL,
                \(OutcomeColumn.all.map { "\($0.name) \($0.type)" }.joined(separator: ",\n    "))
            ) PARTITION BY LIST (slot)
            """,
        ]
            + (0..<slotCount).flatMap { slot in
                [
                    partition(schema, "outcomes", slot, settings: ""),
                    "CREATE UNIQUE INDEX ON \(schema).outcomes_\(slot) (number)",
                ]
            }
    }

    private static func partition(_ schema: String, _ table: String, _ slot: Int, settings: String) -> String {
        """
        CREATE TABLE \(schema).\(table)_\(slot) PARTITION OF \(schema).\(table) FOR VALUES IN (\(slot))
            WITH (\(settings)autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)
        """
    }

    /// A function for others of the schema, with the rights and the path of its caller: `SECURITY DEFINER` and a path cost
    /// more than a short function does.
    static func helper(
        _ schema: String, _ signature: String, returns: String, volatility: String = "VOLATILE",
        replacing: Bool = false, _ body: String
    ) -> [String] {
        [
            """
            CREATE \(replacing ? "OR REPLACE " : "")FUNCTION \(schema).\(signature) RETURNS \(returns) \
            LANGUAGE plpgsql \(volatility) AS $$
            \(body)
            $$
            """,
            "REVOKE ALL ON FUNCTION \(schema).\(signature) FROM PUBLIC",
        ]
    }

    /// Has the plans of a function go by indexes. One that was made while a table was empty would read all of it later. A plan
    /// that can't do so is taken for very expensive, and would be compiled each time.
    static let indexesOnly = """
            PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
                set_config('jit', 'off', true);
        """

    /// Statements that end the function unless the journal has this owner, whom nobody follows before the end of the
    /// transaction.
    static func owning(_ schema: String) -> String {
        """
            PERFORM FROM \(schema).journals j WHERE j.id = of_journal AND j.epoch = of_epoch FOR SHARE;
            IF NOT FOUND THEN
                RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = 'the journal has another owner';
            END IF;
        """
    }
}

/// The arguments of `submit`, in their order, which are also the keys of `submit_many`.
enum SubmissionField {
    static let all: [(name: String, type: String, isRequired: Bool)] = [
        ("topic", "text", true), ("token", "text", false), ("payload", "jsonb", false), ("channel", "text", false),
        ("id", "uuid", false), ("push_type", "text", false), ("priority", "int4", false),
        ("expiration", "timestamptz", false), ("try_until", "timestamptz", false), ("collapse_id", "text", false),
        ("tag", "text", false), ("context", "text", false), ("producer", "text", false),
        ("guarantee", "text", false), ("environment", "text", false), ("deliver_after", "timestamptz", false),
        ("deliver_within", "text", false), ("newest_wins", "bool", false),
        ("token_registered_at", "timestamptz", false),
    ]

    static let types = all.map(\.type).joined(separator: ", ")
}

/// What `take_outcomes` returns of each outcome.
enum OutcomeColumn {
    static let all: [(name: String, type: String)] = [
        ("id", "uuid"), ("outcome", "text"), ("reason", "text"), ("detail", "text"), ("status", "int4"),
        ("since", "timestamptz"), ("submitted_at", "timestamptz"), ("sent_at", "timestamptz"),
        ("ended_at", "timestamptz"), ("attempts", "int4"), ("topic", "text"), ("token", "text"), ("channel", "text"),
        ("address", "text"), ("producer", "text"), ("tag", "text"), ("context", "text"), ("tag_bytes", "bytea"),
        ("context_bytes", "bytea"), ("unique_id", "text"),
    ]

    static let names = all.map(\.name).joined(separator: ", ")
}
