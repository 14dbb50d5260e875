/// What the role of the service may do: call these functions, and nothing else.
enum ServiceRights {
    static let functions = [
        "schema_version()", "create_journal(text)", "look(int4)", "take_journal(int4, int8, int8, text, timestamptz)",
        "end_session(int4, timestamptz)", "beat(int4, int8, timestamptz)", "release_journal(int4, int8)",
    ]

    /// For one transaction. Under the lock of migrations, since PostgreSQL refuses one of two who grant at once.
    static func statements(_ schema: SchemaName, to role: RoleName) -> [String] {
        [schema.lock, "GRANT USAGE ON SCHEMA \(schema.quoted) TO \(role.quoted)"]
            + functions.map { "GRANT EXECUTE ON FUNCTION \(schema.quoted).\($0) TO \(role.quoted)" }
    }
}
