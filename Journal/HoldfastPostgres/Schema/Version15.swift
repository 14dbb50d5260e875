extension Migration {
    /// A promotion counts as one without loss where a majority of the owners vouches for it: fewer may have been cut off together with
    /// the standby, and be as stale as it is. See ManyMachines.md.
    static let version15 = Migration(
        // A program before this says for whom it vouches by nothing, so it counts for no owner.
        version: 15, readableFrom: 7,
        functions: ["vouch(text, text, text, text, int4[])"]
    ) { schema in
        voteColumns(schema)
            + lookingForPromotions(
                schema,
                sighting: """
                    INSERT INTO \(schema).sighted
                                    SELECT b.journal, b.epoch, b.n, j.session_pid IS NOT NULL, false
                                    FROM \(schema).beats b JOIN \(schema).journals j ON j.id = b.journal;
                    """)
            + vouchingTogether(schema) + vouchingForNobody(schema)
    }

    /// Whether a journal had an owner when the database changed, and that owner has vouched.
    private static func voteColumns(_ schema: String) -> [String] {
        [
            """
            ALTER TABLE \(schema).sighted ADD COLUMN is_owned bool NOT NULL DEFAULT false,
                ADD COLUMN has_vouched bool NOT NULL DEFAULT false
            """
        ]
    }

    /// As before, and who says that nothing is lost says it as the owner of the journals that it had when it looked last.
    private static func vouchingTogether(_ schema: String) -> [String] {
        vouching(
            schema, "vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text, of_journals int4[])",
            following: """
                UPDATE \(schema).sighted s SET has_vouched = true
                        WHERE verdict = 'lossless' AND s.is_owned AND s.journal = ANY (of_journals);
                    UPDATE \(schema).fleet f SET is_lossy = f.is_lossy OR verdict <> 'lossless',
                        promotion = CASE WHEN verdict = 'denied' THEN 'denied'
                            WHEN verdict = 'lossy' OR (SELECT 2 * count(*) FILTER (WHERE s.has_vouched) > count(*)
                                FROM \(schema).sighted s WHERE s.is_owned) THEN 'told'
                            ELSE f.promotion END
                        WHERE verdict <> 'older';
                """)
    }

    /// The `vouch` of version 14, which its programs still call: it says no journals, and counts for none.
    private static func vouchingForNobody(_ schema: String) -> [String] {
        function(
            schema, "vouch(of_incarnation text, of_timeline text, of_awaited text, of_beats text)", returns: "text",
            replacing: true,
            """
            BEGIN
                RETURN \(schema).vouch(of_incarnation, of_timeline, of_awaited, of_beats, '{}'::int4[]);
            END
            """)
    }
}
