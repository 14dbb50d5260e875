import Foundation
import HoldfastPQ
import TestPostgres
import Testing

@Suite("Values from and to PostgreSQL", .enabled(if: PostgresProgram.isWanted))
struct ValuesTests {
    private let connection: PQConnection
    private let cluster: Cluster

    init() throws {
        cluster = try Servers.plain.get()
        connection = try connect(cluster.tcp())
    }

    @Test("Every type goes there and comes back, extremes and emptiness too")
    func roundTrips() throws {
        let id = UUID()
        let big = [UInt8](repeating: 0xAB, count: 300_000)
        for (int2, int4, int8) in [
            (Int16.min, Int32.min, Int64.min), (.max, .max, .max), (0, 0, 0), (-1, -1, -1),
        ] {
            var parameters = PQParameters()
            parameters.append(int2)
            parameters.append(int4)
            parameters.append(int8)
            parameters.append(int2 < 0)
            parameters.append(id)
            parameters.append("Grüße 🐘")
            parameters.append("")
            parameters.append(big)
            parameters.append([UInt8]())
            parameters.append([1, 2].span)
            let row = try connection.run("SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10", parameters).row(0)
            #expect(try row.int2(0) == int2)
            #expect(try row.int4(1) == int4)
            #expect(try row.int8(2) == int8)
            #expect(try row.bool(3) == (int2 < 0))
            #expect(try row.uuid(4) == id)
            #expect(try row.text(5) == "Grüße 🐘")
            #expect(try row.text(6) == "")
            #expect(try row.bytes(7) == big)
            #expect(try row.withBytes(8) { $0.count } == 0)
            #expect(try row.bytes(9) == [1, 2])
        }
    }

    @Test("Arrays go there and come back, and unnest makes rows of them")
    func arrays() throws {
        for count in [0, 1, 1000] {
            let numbers = (0..<count).map { Int64($0) * -7_000_000_000 }
            let blobs = (0..<count).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0 % 5) }
            var parameters = PQParameters()
            parameters.append(numbers)
            parameters.append(blobs)
            let row = try connection.run("SELECT $1, $2, (SELECT count(*) FROM unnest($1, $2))", parameters).row(0)
            #expect(try row.int8Array(0) == numbers)
            #expect(try row.byteaArray(1) == blobs)
            #expect(try row.int8(2) == Int64(count))
        }
    }

    @Test("Null is null, and an error where a value was wanted")
    func nulls() throws {
        var parameters = PQParameters()
        parameters.append(null: .int8)
        let row = try connection.run("SELECT $1, 1::int8", parameters).row(0)
        #expect(try row.isNull(0))
        #expect(try !row.isNull(1))
        failure(.unexpected) { try row.int8(0) }
    }

    @Test("Another type, another shape or another place is an error, and no crash")
    func wrong() throws {
        let result = try connection.run(
            """
            SELECT 1::int4, 'x'::text, '{{1,2},{3,4}}'::int8[], '{1,NULL}'::int8[], '{1}'::int4[], now(), 1.5::numeric
            """)
        let row = try result.row(0)
        for column in 1...6 { failure(.unexpected) { try row.int4(column) } }
        failure(.unexpected) { try row.int8(0) }
        failure(.unexpected) { try row.bytes(1) }
        for column in 2...4 { failure(.unexpected) { try row.int8Array(column) } }
        failure(.unexpected) { try row.byteaArray(2) }
        failure(.unexpected) { try row.uuid(0) }
        failure(.unexpected) { try row.int4(7) }
        failure(.unexpected) { try row.int4(-1) }
        failure(.unexpected) { try row.isNull(7) }
        failure(.unexpected) { try result.row(1) }
        failure(.unexpected) { try result.row(-1) }
    }

    @Test("What can't be sent is refused before it is sent, and by the server without a loss of the connection")
    func unsendable() throws {
        failure(.unexpected) { try connection.run("SELECT 1\0") }
        var parameters = PQParameters()
        parameters.append("a\0b")
        failure(.refused, "22021") { try connection.run("SELECT $1", parameters) }
        failure(.refused, "08P01") { try connection.run("SELECT $1::text", PQParameters()) }
        #expect(try connection.number("SELECT 7::int8") == 7)
    }
}
