/// What a role of an application may do that submits in its own transactions: call the functions for that, and nothing else.
enum SubmitterRights {
    /// For one transaction, as ``ServiceRights`` are.
    static func statements(_ schema: SchemaName, _ migrations: [Migration], to role: RoleName) -> [String] {
        [schema.lock, "GRANT USAGE ON SCHEMA \(schema.quoted) TO \(role.quoted)"]
            + migrations.flatMap(\.submitting).map {
                "GRANT EXECUTE ON FUNCTION \(schema.quoted).\($0) TO \(role.quoted)"
            }
    }
}
