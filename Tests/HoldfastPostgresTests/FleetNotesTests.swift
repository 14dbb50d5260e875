import HoldfastPQ
import HoldfastPostgres
import HoldfastService
import TestPostgres
import Testing

@Suite("Notes that hosts share", .enabled(if: PostgresProgram.isWanted))
struct FleetNotesTests {
    private let schema: OwnSchema
    private let notes: FleetNotes

    init() throws {
        schema = try OwnSchema()
        notes = FleetNotes(schema.name)
    }

    @Test("A note is changed only by who has seen the one before")
    func swaps() throws {
        let connection = try schema.asService()
        #expect(try notes.note("a", connection, by: soon()) == nil)
        #expect(try notes.swap("a", seen: 1, [1], connection, by: soon()) == nil)
        #expect(try notes.swap("a", seen: 0, [1, 0], connection, by: soon()) == 1)
        #expect(try notes.swap("a", seen: 0, [2], connection, by: soon()) == nil)
        #expect(try notes.swap("a", seen: 1, [], connection, by: soon()) == 2)
        #expect(try notes.note("a", connection, by: soon()) == FleetNote(value: [], version: 2))
        #expect(try notes.note("b", connection, by: soon()) == nil)
        let large = [UInt8](repeating: 1, count: 65_537)
        #expect(throws: PQError.self) { try notes.swap("a", seen: 2, large, connection, by: soon()) }
    }

    @Test("Of many who swap at once, one wins each time, and no change is lost")
    func races() throws {
        let (schema, notes) = (schema, notes)
        let all = (0..<6).map { _ in
            Background {
                let connection = try schema.asService()
                var wins: Int64 = 0
                while wins < 20 {
                    let seen = try notes.note("n", connection, by: soon())
                    let next = (seen?.value.first ?? 0) &+ 1
                    let made = try notes.swap("n", seen: seen?.version ?? 0, [next], connection, by: soon())
                    if made != nil { wins += 1 }
                }
                return wins
            }
        }
        #expect(try all.map { try $0.value() } == Array(repeating: 20, count: 6))
        #expect(try notes.note("n", schema.asService(), by: soon()) == FleetNote(value: [120], version: 120))
    }
}

@Suite("Provider tokens in the database", .enabled(if: PostgresProgram.isWanted))
struct FleetTokenStoreTests {
    @Test("Two hosts swap a token's note; one whose connection is lost makes another")
    func store() async throws {
        let schema = try OwnSchema()
        let proxy = try FaultProxy(to: schema.cluster.port)
        let target = try PQTarget(schema.cluster.tcp("user=\(schema.service)", port: proxy.port))
        let stores = try (0..<2).map { _ in FleetTokenStore(try FleetNoteClient(target, schema.name)) }
        #expect(try await stores[0].read("t") == nil)
        #expect(try await stores[0].swap("t", seen: 0, [1]))
        #expect(try await !stores[1].swap("t", seen: 0, [2]))
        proxy.cut()
        await #expect(throws: PQError.self) {
            // A loss between two calls is noticed by the next one.
            for _ in 0..<2 { _ = try await stores[1].read("t") }
        }
        let found = try #require(try await stores[1].read("t"))
        #expect(found.note == [1] && found.version == 1)
        #expect(try await stores[1].swap("t", seen: 1, [2]))
    }
}
