import Foundation
import Holdfast
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres
import Testing

@Suite("What a database refuses", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct DatabaseRefusalTests {
    @Test(
        "What waiting mends is waited for, and what only an administrator or another configuration mends is not",
        arguments: [
            // Cancelled; out of time; no place to connect; a standby; a lock; a deadlock; no room for temporary files; a pooler's words.
            ("57014", true), ("57P03", true), ("55000", true), ("25006", true), ("55P03", true), ("40P01", true),
            ("53400", true), ("08P01", true), ("53300", true), ("58P01", true), ("XX000", true), ("57P04", true),
            ("25P03", true), ("40001", true), ("55006", true), ("53100", true),
            // A password, a role; a database, a schema, a function; rights; a pooler between; data; Holdfast's own.
            ("28P01", false), ("28000", false), ("3D000", false), ("3F000", false), ("42883", false), ("42501", false),
            ("26000", false), ("42P05", false), ("22003", false), ("23505", false), ("HF001", false), ("P0001", false),
            ("54000", false), ("0A000", false),
        ])
    func states(state: String, passes: Bool) {
        let report = ServerReport(severity: "ERROR", sqlState: state, message: "no")
        let error = PQError(.refused, "no (\(state))", server: report)
        #expect(error.mayPass == passes)
        #expect(PQError(.unreachable, "away").mayPass && !PQError(.configuration, "no").mayPass)
    }

    @Test("A server without a place for another session is called that, with what makes one")
    func crowded() throws {
        let schema = try OwnSchema()
        try schema.psql("ALTER ROLE \(schema.service) CONNECTION LIMIT 0")
        let target = try PQTarget(schema.cluster.tcp("user=\(schema.service)"))
        let error = #expect(throws: JournalError.self) {
            try HostTerms(target: target, schema: schema.name, host: "host1").examine(by: soon())
        }
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("(53300). The server has as many sessions as it takes: end those") == true)
        try opens(schema, saying: "53300") { try schema.psql("ALTER ROLE \(schema.service) CONNECTION LIMIT -1") }
        let report = ServerReport(severity: "FATAL", sqlState: "53300", message: "sorry, too many clients already")
        let trouble = DatabaseTrouble(PQError(.unreachable, "sorry, too many clients already", server: report))
        #expect(trouble.kind == .crowded)
        #expect(trouble.kind.advice?.next.contains("`max_connections`") == true)
    }

    @Test("A role whose transactions begin read-only is told as that, by a check and while a journal is waited for")
    func readOnly() throws {
        let schema = try OwnSchema()
        try schema.psql("ALTER ROLE \(schema.service) SET default_transaction_read_only = on")
        for wanted in ["any", "read-write"] {
            let target = try PQTarget(
                schema.cluster.tcp("user=\(schema.service) target_session_attrs=\(wanted)"))
            let error = #expect(throws: JournalError.self, "\(wanted)") {
                try HostTerms(target: target, schema: schema.name, host: "host1").examine(by: soon())
            }
            let words = error?.message ?? ""
            #expect(error?.code == .unreachable)
            #expect(words.contains("RESET default_transaction_read_only"), "\(words)")
            // In a session that begins read-only, the other fails.
            #expect(words.contains("SET default_transaction_read_only = off, and in the same session"), "\(words)")
            // The one of a role in this database alone goes by no other statement.
            #expect(words.contains("IN DATABASE … RESET default_transaction_read_only"), "\(words)")
        }
        let kinds = Monitor<Set<DatabaseTrouble.Kind>>([])
        try opens(schema, saying: "default_transaction_read_only", kinds) {
            try schema.psql("ALTER ROLE \(schema.service) RESET default_transaction_read_only")
        }
        // The condition of a service that waits has the advice of the check.
        #expect(kinds.withLock { $0 } == [.readOnly])
        let advice = DatabaseTrouble.Kind.readOnly.advice?.next ?? ""
        #expect(advice.contains("SET default_transaction_read_only = off, and in the same session"), "\(advice)")
    }

    /// The opening of a host's own journal while the database refuses, which says so before that is mended.
    private func opens(
        _ schema: OwnSchema, saying part: String, _ kinds: Monitor<Set<DatabaseTrouble.Kind>>? = nil,
        mending: () throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let told = Monitor<[String]>([])
        let host = try Host(schema, in: folder) { news in
            guard case .away(let trouble) = news else { return }
            told.withLock { $0.append(trouble.words) }
            kinds?.withLock { _ = $0.insert(trouble.kind) }
        }
        let opening = Background { try host.open() }
        let isTold = try eventually { told.withLock { $0.contains { $0.contains(part) } } }
        let words = told.withLock { $0 }
        #expect(isTold, "\(words)")
        try mending()
        try opening.value().close()
    }

    @Test("The opening of a journal outlives statements that are cancelled")
    func cancelled() throws {
        let schema = try OwnSchema()
        let holder = try schema.asOwner()
        defer { holder.close() }
        try holder.run([PQStep("BEGIN"), PQStep("LOCK TABLE \(schema.name).schema")], by: soon())
        let isOver = Monitor(false)
        let cancelling = Background {
            while !isOver.withLock({ $0 }) {
                try schema.psql(
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = '\(schema.service)'")
            }
        }
        try opens(schema, saying: "57014") {
            isOver.withLock { $0 = true }
            try cancelling.value()
            try holder.run([PQStep("ROLLBACK")], by: soon())
        }
    }

    @Test("It outlives a database that lets nobody in for a while")
    func closedDatabase() throws {
        let cluster = try Cluster()
        let schema = try OwnSchema(cluster)
        let place = "host=127.0.0.1 port=\(cluster.port) dbname=template1 sslmode=disable user=postgres"
        let administrator = try PQConnection(
            PQTarget(place), PQSession(applicationName: "tests"), by: soon(), PQInterruption())
        defer { administrator.close() }
        func allow(_ isOpen: Bool) throws {
            try administrator.run([PQStep("ALTER DATABASE postgres ALLOW_CONNECTIONS \(isOpen)")], by: soon())
        }
        try allow(false)
        try opens(schema, saying: "55000") { try allow(true) }
    }
}
