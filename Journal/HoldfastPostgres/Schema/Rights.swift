/// What roles may do: call functions of the migrations, each kind its own, and nothing else.
enum Rights {
    /// Of the hosts.
    case service
    /// Of an application that submits in its own transactions.
    case submitter
    /// Of those who ask owners of journals by way of the database.
    case operators

    private func functions(of migration: Migration) -> [String] {
        switch self {
        case .service: migration.functions
        case .submitter: migration.submitting
        case .operators: migration.operating
        }
    }

    /// For one transaction, under the lock of migrations, since PostgreSQL refuses one of two who grant at once.
    func statements(_ schema: SchemaName, _ migrations: [Migration], to role: RoleName) -> [String] {
        ["GRANT USAGE ON SCHEMA \(schema.quoted) TO \(role.quoted)"]
            + migrations.flatMap(functions).map {
                "GRANT EXECUTE ON FUNCTION \(schema.quoted).\($0) TO \(role.quoted)"
            }
    }
}
