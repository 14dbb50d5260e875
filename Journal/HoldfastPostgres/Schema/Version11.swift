extension Migration {
    /// Pauses of the fleet that the database had lost are put back, an order about nothing is taken back, and outcomes wait until a
    /// database that has changed is known to have their journal. See ManyMachines.md.
    static let version11 = Migration(
        // An earlier program calls none of them.
        version: 11, readableFrom: 7,
        functions: ["restore_pause(text, text, bytea, text, text, int8)", "check_heard(int4)"] + withdrawing,
        operating: withdrawing
    ) { schema in
        restoring(schema) + withdrawingOrders(schema) + hearing(schema)
    }

    private static let withdrawing = ["withdraw_order(int8)"]

    /// Gives a pause again under the stamp that it had, so that it is put back once, whoever puts it back, and not behind a
    /// resumption that came since. Returns whether it was put back.
    private static func restoring(_ schema: String) -> [String] {
        function(
            schema,
            "restore_pause(of_stamp text, of_subject text, of_target bytea, why text, who text, since int8)",
            returns: "bool",
            """
            DECLARE
                given int8;
            BEGIN
                LOCK TABLE \(schema).orders IN SHARE ROW EXCLUSIVE MODE;
                IF EXISTS (SELECT FROM \(schema).orders o WHERE o.stamp = of_stamp::uuid)
                    OR EXISTS (SELECT FROM \(schema).orders o WHERE o.is_pause AND o.subject = of_subject
                        AND o.target IS NOT DISTINCT FROM of_target)
                THEN
                    RETURN false;
                END IF;
                SELECT g.number INTO given FROM \(schema).give_order(of_subject, of_target, true, why, '') g;
                UPDATE \(schema).orders o SET stamp = of_stamp::uuid, ordered_by = left(who, 512),
                    ordered_at = to_timestamp(since / 1000.0) WHERE o.number = given;
                RETURN true;
            END
            """)
    }

    /// Takes an order back that was about nothing: a slip. What it has replaced stays replaced.
    private static func withdrawingOrders(_ schema: String) -> [String] {
        function(
            schema, "withdraw_order(of_number int8)", returns: "void",
            """
            BEGIN
                UPDATE \(schema).orders o SET subject = NULL, target = NULL, reason = '', ordered_by = ''
                    WHERE o.number = of_number;
            END
            """)
    }

    /// Refuses while it is not known whether a database that has changed has all of a journal. Who told its outcomes before, and was
    /// then lost with what the database lacks, would have told what nobody can stand for. After a minute nobody comes any more who
    /// could say so. A refusal takes back what this look has noted of the change: the beats of the owners note it.
    private static func hearing(_ schema: String) -> [String] {
        function(
            schema, "check_heard(of_journal int4)", returns: "void",
            """
            DECLARE
                passed int8;
            BEGIN
                SELECT l.milliseconds INTO passed FROM \(schema).look_at_fleet() l;
                IF passed BETWEEN 0 AND 60000 AND EXISTS (SELECT FROM \(schema).unheard u WHERE u.journal = of_journal) THEN
                    RAISE EXCEPTION USING ERRCODE = 'HF017', MESSAGE = 'the database has changed, and it is not known yet '
                        'whether it has all of the journal, whose outcomes wait for that';
                END IF;
            END
            """)
    }
}
