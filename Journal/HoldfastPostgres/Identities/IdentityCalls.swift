internal import Foundation
package import HoldfastLMDB
package import HoldfastPQ

/// The calls about the identities that all hosts remember, beside the commits that add them. Each is one round trip and one
/// transaction.
package struct IdentityCalls: Sendable {
    private let keyStatement: PQStatement
    private let turnStatement: PQStatement
    private let restoreStatement: PQStatement

    package init(_ schema: SchemaName) {
        let name = schema.quoted
        keyStatement = PQStatement("SELECT \(name).identity_key()")
        turnStatement = PQStatement("SELECT \(name).turn_identities($1, $2)", preparedAs: "turn_identities")
        restoreStatement = PQStatement("SELECT \(name).restore_identities($1, $2, $3, $4)")
    }

    /// The secret of all identities: 16 bytes, made with the schema.
    package func key(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (first: UInt64, second: UInt64) {
        let row = try connection.run([PQStep(keyStatement, PQParameters(), reading: true)], by: deadline)[0].row(0)
        return try row.uuid(0).halves
    }

    /// Forgets what is old, or more than is to be remembered. Any host may.
    ///
    /// - Returns: whether anything was forgotten, or will be soon.
    @discardableResult
    package func turn(
        age: Duration, limit: Int, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Bool {
        var parameters = PQParameters()
        parameters.append(Int64(min(max(age / .milliseconds(1), 0), 1e14)))
        parameters.append(Int64(min(max(limit, 0), 1 << 40)))
        return try connection.run([PQStep(turnStatement, parameters)], by: deadline)[0].row(0).bool(0)
    }

    /// Adds what a journal's copy remembers and the database has lost. What others have since stays theirs.
    package func restore(
        _ claims: [CommitClaim], of journal: Int32, epoch: Int64, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        parameters.append(claims)
        try connection.run([PQStep(restoreStatement, parameters)], by: deadline)
    }
}

extension PQParameters {
    /// Two parameters: the identities, and their UIDs.
    mutating func append(_ claims: [CommitClaim]) {
        append(claims.map { (high: $0.high, low: $0.low) })
        append(claims.map { Int64(bitPattern: $0.value) })
    }
}

extension PQResult {
    /// Of rows of an identity and its UID.
    var claims: [CommitClaim] {
        get throws(PQError) {
            try rows.map { row throws(PQError) in
                let (high, low) = try row.uuid(0).halves
                return CommitClaim(high: high, low: low, value: UInt64(bitPattern: try row.int8(1)))
            }
        }
    }
}

extension UUID {
    fileprivate var halves: (UInt64, UInt64) {
        let bytes = uuid
        let high = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7]
        let low = [bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15]
        return (high.reduce(0) { $0 << 8 | UInt64($1) }, low.reduce(0) { $0 << 8 | UInt64($1) })
    }
}
