/// What the role of the service may do: call the functions of the migrations, and nothing else.
enum ServiceRights {
    /// For one transaction. Under the lock of migrations, since PostgreSQL refuses one of two who grant at once.
    static func statements(_ schema: SchemaName, _ migrations: [Migration], to role: RoleName) -> [String] {
        [schema.lock, "GRANT USAGE ON SCHEMA \(schema.quoted) TO \(role.quoted)"]
            + migrations.flatMap(\.functions).map {
                "GRANT EXECUTE ON FUNCTION \(schema.quoted).\($0) TO \(role.quoted)"
            }
    }
}
