internal import HoldfastPQ

extension Migration {
    /// Outcomes of a journal wait until its owner has written back what the database has lost. See ManyMachines.md.
    static let version13 = Migration(version: 13, readableFrom: 7) { schema in hearingBesideClaims(schema) }

    /// As before, and also while somebody claims to have more of the journal: he says at once which rows of the outbox are in it, so
    /// that those are not held up, and has not written the rest back yet.
    private static func hearingBesideClaims(_ schema: String) -> [String] {
        function(
            schema, "check_heard(of_journal int4)", returns: "void", replacing: true,
            """
            DECLARE
                fleet record;
            BEGIN
                SELECT l.incarnation, l.milliseconds INTO fleet FROM \(schema).look_at_fleet() l;
                IF fleet.milliseconds BETWEEN 0 AND 60000
                        AND EXISTS (SELECT FROM \(schema).unheard u WHERE u.journal = of_journal)
                    OR EXISTS (SELECT FROM \(schema).claims c WHERE c.journal = of_journal
                        AND c.incarnation = fleet.incarnation AND c.at + c.lasting > clock_timestamp())
                THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF017', MESSAGE = 'the database has changed, and it is not known yet '
                        'whether it has all of the journal, whose outcomes wait for that';
                END IF;
            END
            """)
    }
}
