extension Migration {
    /// Notes that hosts share: small values, each changed only by who has seen the one before.
    static func notes(_ schema: String) -> [String] {
        [
            """
            CREATE TABLE \(schema).notes (
                name text PRIMARY KEY,
                value bytea NOT NULL,
                version int8 NOT NULL
            )
            """
        ]
            + function(
                schema, "read_note(of_name text)", returns: "TABLE (value bytea, version int8)",
                """
                BEGIN
                    RETURN QUERY SELECT n.value, n.version FROM \(schema).notes n WHERE n.name = of_name;
                END
                """)
            // Version 0 is that of a note that is not there. The new version, or none when another one was written meanwhile.
            + function(
                schema, "swap_note(of_name text, seen int8, new_value bytea)", returns: "int8",
                """
                DECLARE
                    made int8;
                BEGIN
                    IF octet_length(of_name) > 500 OR octet_length(new_value) > 65536 THEN
                        RAISE EXCEPTION USING ERRCODE = 'HF013', MESSAGE = 'a name has at most 500 bytes, and a note 65,536';
                    END IF;
                    IF seen = 0 THEN
                        INSERT INTO \(schema).notes (name, value, version) VALUES (of_name, new_value, 1)
                            ON CONFLICT (name) DO NOTHING RETURNING version INTO made;
                    ELSE
                        UPDATE \(schema).notes n SET value = new_value, version = seen + 1
                            WHERE n.name = of_name AND n.version = seen RETURNING n.version INTO made;
                    END IF;
                    RETURN made;
                END
                """)
    }
}
