extension Migration {
    /// Pauses of the fleet that the database had lost are put back, and an order about nothing is taken back. See ManyMachines.md.
    static let version11 = Migration(
        // An earlier program calls neither.
        version: 11, readableFrom: 7,
        functions: ["restore_pause(text, text, bytea, text, text, int8)"] + withdrawing,
        operating: withdrawing
    ) { schema in
        restoring(schema) + withdrawingOrders(schema)
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
}
