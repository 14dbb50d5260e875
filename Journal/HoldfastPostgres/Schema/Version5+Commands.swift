extension Migration {
    /// What operators and the service call, to ask the owner of a journal something.
    static let commandCalls = [
        "ask_command(uuid, text, bytea, int8)", "read_answer(uuid)", "withdraw_command(uuid)", "forget_command(uuid)",
    ]
    /// What the owners of journals call.
    static let commandServing = ["claim_commands(int8[], int8[], text, int4)", "answer_command(uuid, bytea)"]

    /// A command is claimed by the owner of its journal, by its epoch, once, and before its deadline by the database's clock. One
    /// that was not claimed by then never is.
    static func commandTables(_ schema: String) -> [String] {
        [
            """
            CREATE TABLE \(schema).commands (
                id uuid PRIMARY KEY,
                journal int4 NOT NULL REFERENCES \(schema).journals,
                request bytea NOT NULL,
                asked_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
                deadline timestamptz NOT NULL,
                claimed_by text,
                answer bytea
            )
            """
        ]
    }

    static func asking(_ schema: String) -> [String] {
        function(
            schema, "ask_command(of_id uuid, of_journal text, of_request bytea, patience int8)",
            returns: "TABLE (host text, is_free bool)",
            """
            DECLARE
                number int4;
            BEGIN
                SELECT j.id, j.host, j.session_pid IS NULL INTO number, host, is_free
                    FROM \(schema).journals j WHERE j.name = of_journal;
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF006', MESSAGE = 'there is no journal of this name';
                END IF;
                IF octet_length(of_request) > \(greatestCommand) OR patience NOT BETWEEN 1 AND 600000 THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF013', MESSAGE = 'the command is too large, or waits too long';
                END IF;
                IF (SELECT count(*) FROM \(schema).commands c WHERE c.journal = number
                        AND c.answer IS NULL AND c.deadline > clock_timestamp()) >= 32 THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF012', MESSAGE = 'too many commands wait for the owner of the journal';
                END IF;
                INSERT INTO \(schema).commands (id, journal, request, deadline)
                    VALUES (of_id, number, of_request, clock_timestamp() + patience * INTERVAL '1 millisecond')
                    ON CONFLICT (id) DO NOTHING;
                PERFORM pg_notify('\(commandChannel(schema))', '');
                RETURN NEXT;
            END
            """)
            + function(
                schema, "read_answer(of_id uuid)", returns: "TABLE (claimed_by text, answer bytea)",
                """
                BEGIN
                    RETURN QUERY SELECT c.claimed_by, c.answer FROM \(schema).commands c WHERE c.id = of_id;
                END
                """)
            // Whether it is certain that nobody carries it out.
            + function(
                schema, "withdraw_command(of_id uuid)", returns: "bool",
                """
                BEGIN
                    DELETE FROM \(schema).commands c WHERE c.id = of_id AND c.claimed_by IS NULL;
                    RETURN FOUND;
                END
                """)
            + function(
                schema, "forget_command(of_id uuid)", returns: "void",
                """
                BEGIN
                    DELETE FROM \(schema).commands c WHERE c.id = of_id AND c.answer IS NOT NULL;
                END
                """)
    }

    /// Also deletes what nobody reads any more: a minute behind its deadline.
    static func claimingCommands(_ schema: String) -> [String] {
        function(
            schema, "claim_commands(of_journals int8[], of_epochs int8[], of_host text, row_limit int4)",
            returns: "TABLE (id uuid, journal int4, request bytea, left_ms int8)",
            """
            BEGIN
                DELETE FROM \(schema).commands c WHERE c.id IN (SELECT o.id FROM \(schema).commands o
                    WHERE o.deadline < clock_timestamp() - INTERVAL '1 minute' FOR UPDATE SKIP LOCKED);
                RETURN QUERY UPDATE \(schema).commands c SET claimed_by = of_host
                    WHERE c.id IN (
                        SELECT o.id FROM \(schema).commands o
                        JOIN unnest(of_journals, of_epochs) AS w (journal, epoch) ON w.journal = o.journal
                        JOIN \(schema).journals j ON j.id = o.journal AND j.epoch = w.epoch
                        WHERE o.claimed_by IS NULL AND o.deadline > clock_timestamp()
                        ORDER BY o.asked_at LIMIT row_limit FOR UPDATE OF o SKIP LOCKED)
                    RETURNING c.id, c.journal, c.request,
                        floor(extract(epoch FROM c.deadline - clock_timestamp()) * 1000)::int8;
            END
            """)
            + function(
                schema, "answer_command(of_id uuid, of_answer bytea)", returns: "bool",
                """
                BEGIN
                    UPDATE \(schema).commands c SET answer = of_answer, request = ''
                        WHERE c.id = of_id AND c.claimed_by IS NOT NULL;
                    IF NOT FOUND THEN RETURN false; END IF;
                    PERFORM pg_notify('\(answerChannel(schema))', of_id::text);
                    RETURN true;
                END
                """)
    }

    /// Bytes of a request.
    static let greatestCommand = 16 << 20

    /// Where owners hear that there are commands. It only saves them the time until they look.
    static func commandChannel(_ schema: String) -> String { channel(schema, "commands") }
    /// Where those who asked hear of answers.
    static func answerChannel(_ schema: String) -> String { channel(schema, "answers") }

    /// - Parameter schema: in quotation marks. Names of channels end at 63 bytes, so a long one is cut: a word too many is heard.
    private static func channel(_ schema: String, _ word: String) -> String {
        schema.filter { $0 != "\"" }.prefix(50) + "_" + word
    }
}
