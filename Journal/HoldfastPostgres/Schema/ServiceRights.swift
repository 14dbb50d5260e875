/// What a role may do: call functions of the migrations, and nothing else.
enum ServiceRights {
    /// The service's role, for one transaction. Under the lock of migrations, since PostgreSQL refuses one of two who grant at once.
    static func statements(_ schema: SchemaName, _ migrations: [Migration], to role: RoleName) -> [String] {
        grants(schema, migrations.flatMap(\.functions), to: role)
    }

    /// The role of operators, who ask the owners of journals and touch no journal themselves.
    static func ofOperators(_ schema: SchemaName, _ migrations: [Migration], to role: RoleName) -> [String] {
        grants(schema, migrations.flatMap(\.operatorFunctions), to: role)
    }

    private static func grants(_ schema: SchemaName, _ functions: [String], to role: RoleName) -> [String] {
        [schema.lock, "GRANT USAGE ON SCHEMA \(schema.quoted) TO \(role.quoted)"]
            + functions.map { "GRANT EXECUTE ON FUNCTION \(schema.quoted).\($0) TO \(role.quoted)" }
    }
}
