/// The name of the schema that holds all of Holdfast's tables and functions in a database.
package struct SchemaName: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package static let standard = SchemaName(unchecked: "holdfast")

    /// - Throws: when it is not made of small letters, digits and underlines, is longer than 63, or belongs to PostgreSQL or to
    ///   everybody.
    package init(_ text: String) throws(SchemaError) {
        let isWord = text.wholeMatch(of: /[a-z_][a-z0-9_]{0,62}/) != nil
        guard isWord, !text.hasPrefix("pg_"), text != "information_schema", text != "public" else {
            throw .badName(text)
        }
        self.init(unchecked: text)
    }

    private init(unchecked text: String) { description = text }

    /// In quotation marks, since a word of SQL's may be a name, too.
    var quoted: String { "\"\(description)\"" }

    /// Locks the schema against other migrations until the end of the transaction.
    var lock: String {
        "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast schema \(description)', 0))"
    }

    /// Fails unless the schema has a version; 0 where there is none.
    func requirement(of version: Int) -> String {
        """
        DO $$ DECLARE present int4 := 0; BEGIN
            IF pg_catalog.to_regclass('\(quoted).schema') IS NOT NULL THEN
                SELECT coalesce(pg_catalog.max(s.version), 0) INTO present FROM \(quoted).schema s;
            END IF;
            IF present <> \(version) THEN
                RAISE EXCEPTION USING ERRCODE = '\(SchemaError.otherVersionState)',
                    MESSAGE = CASE present WHEN 0 THEN 'schema \(description) is not there'
                        ELSE pg_catalog.format('schema \(description) has version %s', present) END
                        || ', and these statements are for \(version == 0 ? "a database without it" : "version \(version)")',
                    HINT = pg_catalog.format('Print what is missing: holdfast postgres migrate --print --from %s', present);
            END IF;
        END $$
        """
    }
}

/// The name of a role, for statements that grant it something.
struct RoleName {
    let quoted: String

    /// - Throws: for a name that no role has, or that stands for everybody even in quotation marks.
    init(_ text: String) throws(SchemaError) {
        let isPossible = (1...63).contains(text.utf8.count) && !text.unicodeScalars.contains("\0")
        guard isPossible, text != "public", text != "none" else { throw .badRole(text) }
        quoted = text.quotedName
    }
}

extension String {
    /// As a name in SQL, whatever is in it.
    var quotedName: String { "\"" + replacing("\"", with: "\"\"") + "\"" }
}
