import Foundation
import HoldfastPQ
import Synchronization
import TestPostgres
import Testing

/// Servers that the tests of this process share. They are made when first wanted.
enum Servers {
    static let plain: Result<Cluster, any Error> = Result { try Cluster() }
}

extension Cluster {
    /// Over TCP, without encryption.
    func tcp(_ more: String = "user=plain", port: Int? = nil) -> String {
        "host=127.0.0.1 port=\(port ?? self.port) dbname=postgres sslmode=disable \(more)"
    }

    /// Over the socket, as a superuser.
    var socket: String { "host=\(folder) port=\(port) dbname=postgres user=postgres" }

    /// A table of a test's own, which everybody may write.
    func table(_ columns: String = "a int8") throws -> String {
        let name = "t\(UUID().uuidString.prefix(8).lowercased())"
        try psql("CREATE TABLE \(name) (\(columns))", "GRANT ALL ON \(name) TO PUBLIC")
        return name
    }

    func count(_ table: String) throws -> Int { try #require(Int(psql("SELECT count(*) FROM \(table)"))) }
}

func soon(_ seconds: Double = 20) -> ContinuousClock.Instant { .now + .seconds(seconds) }

func connect(
    _ text: String, _ session: PQSession = PQSession(applicationName: "tests"),
    by deadline: ContinuousClock.Instant = soon(), _ interruption: PQInterruption? = nil
) throws -> PQConnection {
    try PQConnection(PQTarget(text), session, by: deadline, interruption ?? PQInterruption())
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

/// Something that runs on a thread of its own, and what came of it.
final class Background<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            let result = Result { try body() }
            outcome.withLock { $0 = result }
            done.signal()
        }
    }

    func value() throws -> Value {
        guard done.wait(timeout: .now() + .seconds(30)) == .success, let outcome = outcome.withLock({ $0 }) else {
            throw NeverEnded()
        }
        return try outcome.get()
    }

    struct NeverEnded: Error {}
}

/// Waits for a condition, looking every few milliseconds.
func eventually(_ condition: () throws -> Bool) throws -> Bool {
    let end = soon(20)
    while try !condition() {
        if .now > end { return false }
        usleep(5000)
    }
    return true
}
