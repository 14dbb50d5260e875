extension Migration {
    /// Scheduled submissions are claimed by the clock of the host that sends it, and not by the database's: programs before this call the
    /// function of version 14. And it is noted of which journals the last commits may be lost, with their host.
    static let version17 = Migration(
        version: 17, readableFrom: 7,
        functions: [
            "claim_outbox(int4, int8, int4, int8, int8)", "note_loss(int4, int8, int8)", "list_losses()",
        ],
        operating: ["list_losses()"]
    ) { schema in claimingByHostsClock(schema) + losses(schema) }

    /// The time between the last notification that the database has of a journal, and the change with which others were lost.
    private static func losses(_ schema: String) -> [String] {
        [
            """
            CREATE TABLE \(schema).losses (
                journal int4 PRIMARY KEY,
                began_at timestamptz NOT NULL,
                ended_at timestamptz NOT NULL
            )
            """
        ]
            + function(
                schema, "note_loss(of_journal int4, of_epoch int8, from_milliseconds int8)", returns: "int8",
                """
                DECLARE
                    change timestamptz;
                BEGIN
                \(owning(schema))
                    SELECT f.since INTO change FROM \(schema).fleet f;
                    INSERT INTO \(schema).losses
                        VALUES (of_journal, to_timestamp(from_milliseconds / 1000.0), change)
                        ON CONFLICT (journal) DO UPDATE SET began_at = excluded.began_at, ended_at = excluded.ended_at;
                    RETURN \(milliseconds("change"));
                END
                """)
            + function(
                schema, "list_losses()", returns: "TABLE (id int4, began int8, ended int8)",
                """
                BEGIN
                    RETURN QUERY SELECT l.journal, \(milliseconds("l.began_at")), \(milliseconds("l.ended_at"))
                        FROM \(schema).losses l WHERE l.ended_at > clock_timestamp() - interval '30 days';
                END
                """)
    }
}
