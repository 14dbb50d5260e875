/// A step from one version of the schema to the next, as text, so that administrators may run it themselves.
///
/// A migration that was published is never changed.
package struct Migration: Sendable {
    /// From 1, without gaps.
    package let version: Int
    /// The oldest version whose programs may use the schema after this step. Programs of two versions run side by side while a
    /// fleet is upgraded, so this is the version itself only where the older ones would do harm.
    package let readableFrom: Int
    /// What the service may call from this version on, with the types of its arguments.
    let functions: [String]
    /// What applications that submit may call from this version on, in the same form.
    let submitting: [String]
    /// What an operator may call from this version on.
    let operating: [String]
    /// The statements for a schema of the given name, in quotation marks, without the bookkeeping.
    let body: @Sendable (_ schema: String) -> [String]

    package init(
        version: Int, readableFrom: Int, functions: [String] = [], submitting: [String] = [],
        operating: [String] = [],
        body: @escaping @Sendable (_ schema: String) -> [String]
    ) {
        self.version = version
        self.readableFrom = readableFrom
        self.functions = functions
        self.submitting = submitting
        self.operating = operating
        self.body = body
    }

    package static let all = [
        version1, version2, version3, version4, version5, version6, version7, version8, version9, version10, version11,
        version12, version13, version14, version15, version16, version17, version18,
    ]

    /// Everything between the lock and the COMMIT.
    func statements(_ schema: SchemaName) -> [String] {
        let creation = version == 1 ? Self.creation(schema) : []
        let entry = "INSERT INTO \(schema.quoted).schema (version, readable_from) VALUES (\(version), \(readableFrom))"
        return creation + body(schema.quoted) + [entry]
    }

    /// The schema, unless an administrator has made it, since `IF NOT EXISTS` asks for the right to create one nevertheless.
    private static func creation(_ schema: SchemaName) -> [String] {
        [
            """
            DO $$ BEGIN
                IF pg_catalog.to_regnamespace('\(schema)') IS NULL THEN CREATE SCHEMA \(schema.quoted); END IF;
            END $$
            """,
            """
            CREATE TABLE \(schema.quoted).schema (
                version int4 PRIMARY KEY,
                readable_from int4 NOT NULL,
                at timestamptz NOT NULL DEFAULT pg_catalog.now(),
                by text NOT NULL DEFAULT session_user
            )
            """,
        ]
    }
}

extension Migration {
    /// A function that runs with the rights of the schema's owner, and that nobody may call before it is granted.
    ///
    /// - Parameters:
    ///   - signature: with the names and types of its arguments.
    ///   - replacing: whether a version before has it, whose callers may call it further.
    static func function(
        _ schema: String, _ signature: String, returns: String, replacing: Bool = false, _ body: String
    ) -> [String] {
        function(schema, signature, returns: returns, replacing: replacing, security: "DEFINER", body)
    }

    /// The same with the rights of the caller.
    static func ofCaller(_ schema: String, _ signature: String, returns: String, _ body: String) -> [String] {
        function(schema, signature, returns: returns, replacing: false, security: "INVOKER", body)
    }

    /// The same with arguments that may be left out, which their types tell apart.
    static func function(
        _ schema: String, _ name: String, arguments: String, types: String, returns: String, replacing: Bool = false,
        _ body: String
    ) -> [String] {
        let made = function(schema, "\(name)(\(arguments))", returns: returns, replacing: replacing, body)[0]
        return [made, "REVOKE ALL ON FUNCTION \(schema).\(name)(\(types)) FROM PUBLIC"]
    }

    private static func function(
        _ schema: String, _ signature: String, returns: String, replacing: Bool, security: String, _ body: String
    ) -> [String] {
        [
            """
            CREATE \(replacing ? "OR REPLACE " : "")FUNCTION \(schema).\(signature) RETURNS \(returns)
            LANGUAGE plpgsql SECURITY \(security) SET search_path = pg_catalog, pg_temp AS $$
            \(body)
            $$
            """,
            "REVOKE ALL ON FUNCTION \(schema).\(signature) FROM PUBLIC",
        ]
    }
}
