import Foundation
import HoldfastPQ
import TestPostgres
import Testing

extension Cluster {
    /// A table of a test's own, which everybody may write.
    func table(_ columns: String = "a int8") throws -> String {
        let name = "t\(UUID().uuidString.prefix(8).lowercased())"
        try psql("CREATE TABLE \(name) (\(columns))", "GRANT ALL ON \(name) TO PUBLIC")
        return name
    }

    func count(_ table: String) throws -> Int { try #require(Int(psql("SELECT count(*) FROM \(table)"))) }
}

func connect(
    _ text: String, _ session: PQSession = PQSession(applicationName: "tests"),
    by deadline: ContinuousClock.Instant = soon(), _ interruption: PQInterruption? = nil
) throws(PQError) -> PQConnection {
    guard let interruption else { return try connect(text, session, by: deadline, PQInterruption()) }
    return try PQConnection(PQTarget(text), session, by: deadline, interruption)
}

extension PQConnection {
    /// One statement that may change something.
    @discardableResult
    func run(_ sql: String, _ parameters: PQParameters = PQParameters()) throws(PQError) -> PQResult {
        try run([PQStep(sql, parameters)], by: soon())[0]
    }

    /// The one value of a query.
    func number(_ sql: String) throws -> Int64 {
        try run([PQStep(sql, reading: true)], by: soon())[0].row(0).int8(0)
    }
}

/// The error that a call must end with.
@discardableResult
func failure<R>(
    _ kind: PQError.Kind, _ state: String? = nil, cause: PQError.Cause? = nil,
    location: SourceLocation = #_sourceLocation, _ body: () throws -> R
) -> PQError? {
    let error = #expect(throws: PQError.self, sourceLocation: location) { _ = try body() }
    if let error {
        #expect(error.kind == kind, "\(error)", sourceLocation: location)
        if let state { #expect(error.sqlState == state, "\(error)", sourceLocation: location) }
        if let cause { #expect(error.cause == cause, "\(error)", sourceLocation: location) }
    }
    return error
}
