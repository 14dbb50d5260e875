package import HoldfastPQ

/// A reason for which a schema can't be used or changed. Its description says what to do.
package enum SchemaError: Error, Sendable, CustomStringConvertible {
    /// The SQLSTATE of a right that is missing.
    static let noRightState = "42501"
    /// The schema is of a version that has no such function.
    static let noFunctionState = "42883"
    /// A transaction that may write nothing.
    static let readOnlyState = "25006"
    /// Printed statements for another version than the schema has.
    static let otherVersionState = "HF018"

    case badName(String)
    case badRole(String)
    /// There is no schema, or nothing of Holdfast's in it.
    case missing(SchemaName)
    /// An older version than this program needs.
    case older(SchemaName, version: Int, needed: Int)
    /// A newer version, which says that a program as old as this one must not use it.
    case newer(SchemaName, version: Int, known: Int)
    /// The role may not create the schema.
    case mayNotCreate(SchemaName, role: String, database: String)
    /// The database takes any byte for text: one that is no UTF-8 would keep all that is submitted by SQL waiting.
    case noEncoding(database: String)
    /// The role is not the schema's owner.
    case notOwner(SchemaName, role: String, owner: String)
    /// The role may not call the functions; or the one that is named, where that was met first.
    case mayNotUse(SchemaName, role: String, function: String?)
    /// The role may not call the functions, because a setting has it act as another role, with words for that.
    case actsAsAnother(String)
    /// There is no role to grant something to. Nothing was changed.
    case noSuchRole(String)
    /// Another failure, such as a lost connection.
    case failed(PQError)

    /// Words for what a role may not do.
    static func withheld(from role: String, _ schema: SchemaName, _ function: String?) -> String {
        "role \(role) may not \(function.map { "call \($0)" } ?? "use schema \(schema)")"
    }

    private static let actsAs = "acts as role"

    /// Words for what the role of a session may not do.
    ///
    /// - Parameter right: such as `use schema holdfast`.
    static func withheld(from facts: PQFacts, _ right: String) -> String {
        guard let acting = facts.actingRole else { return "role \(facts.user) may not \(right)" }
        return "role \(facts.user) \(actsAs) \(acting), by the setting `role`, and may not \(right) as that"
    }

    /// The advice to an operator who reads that a right is missing; `nil` where the role lacks it by itself.
    static func advice(onWithheld message: String) -> String? {
        message.contains(actsAs)
            ? "As a superuser, say ALTER ROLE … RESET role, or ALTER ROLE … IN DATABASE … RESET role, or ALTER DATABASE … "
                + "RESET role (\\drds of psql lists such settings), or take `role` out of the connection string's options"
            : nil
    }

    /// Words for a right that is missing; `nil` for any other reason.
    var withheldRight: String? {
        switch self {
        case .mayNotUse(let schema, let role, let function): Self.withheld(from: role, schema, function)
        case .actsAsAnother(let words): words
        default: nil
        }
    }

    package var description: String {
        switch self {
        case .badName(let text):
            "\"\(text)\" can't be the name of the schema: use up to 63 small letters, digits and underlines, and no name "
                + "of PostgreSQL's own"
        case .badRole(let text): "\"\(text)\" can't be the name of a role for the service: name one role"
        case .missing(let schema):
            "the database has no tables of Holdfast's in schema \(schema): migrate the schema as its owner first"
        case .older(let schema, let version, let needed):
            "schema \(schema) has version \(version), and this program needs \(needed): migrate the schema as its owner"
        case .newer(let schema, let version, let known):
            "schema \(schema) has version \(version), and this program knows it up to \(known) and must not use a newer "
                + "one: install a newer Holdfast here"
        case .mayNotCreate(let schema, let role, let database):
            "role \(role) may not create schema \(schema) in database \(database): migrate as the role that is to own it, which "
                + "is not the one of the hosts. If that is \(role): as a superuser, run CREATE SCHEMA "
                + "\(schema.quoted) AUTHORIZATION \(role.quotedName) there, then migrate again"
        case .notOwner(let schema, let role, let owner):
            "role \(role) may not change schema \(schema): migrate as \(owner), which owns it"
        case .noEncoding(let database):
            "database \(database) has the encoding SQL_ASCII, which takes any byte for text: make one with UTF8 (CREATE DATABASE … "
                + "ENCODING 'UTF8' TEMPLATE template0), and name that in the connection string"
        case .mayNotUse(let schema, let role, let function):
            "\(Self.withheld(from: role, schema, function)): migrate again as the schema's owner with \(role) as the service's "
                + "role (--service), or as that of operators (--operators), which grants what it needs"
        case .actsAsAnother(let words): words + (Self.advice(onWithheld: words).map { ". \($0)" } ?? "")
        case .noSuchRole(let role):
            "there is no role \(role), and nothing was changed: as a superuser, run CREATE ROLE \(role.quotedName) LOGIN, with a password if it needs one, "
                + "then migrate again"
        case .failed(let error): error.description
        }
    }
}
