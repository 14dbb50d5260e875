import Foundation
import HoldfastPQ
import TestPostgres
import Testing

/// Connections that end at any byte, in either direction: nothing that is told as not made was made.
@Suite("Cuts at any byte", .enabled(if: PostgresProgram.isWanted))
struct CutTests {
    private let cluster: Cluster
    private let table: String
    private let proxy: FaultProxy

    init() throws {
        cluster = try Servers.plain.get()
        table = try cluster.table()
        proxy = try FaultProxy(to: cluster.port)
    }

    /// A transaction, or a statement alone. The text by which the proxy knows it is in its first bytes.
    private func steps(_ value: Int, alone: Bool) -> [PQStep] {
        let insert = PQStep("INSERT INTO \(table) VALUES (\(value))")
        return alone ? [insert] : [.begin, insert, .commit]
    }

    private enum Told {
        case made
        case inDoubt
        case notMade
    }

    /// Runs the steps on a connection of their own, with a fault behind its set-up.
    private func run(_ value: Int, alone: Bool, _ fault: FaultProxy.Fault) throws -> Told {
        proxy.fail(nil)
        let connection = try connect(cluster.tcp("user=plain application_name=cut", port: proxy.port))
        proxy.fail(fault)
        do throws(PQError) {
            try connection.run(steps(value, alone: alone), by: soon())
            return .made
        } catch {
            switch error.kind {
            case .inDoubt: return .inDoubt
            case .unreachable: return .notMade
            default: throw error
            }
        }
    }

    /// The values that were committed, when no session can commit any more.
    private func committed() throws -> Set<Int> {
        let isOver = try eventually {
            try cluster.psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cut'") == "0"
        }
        #expect(isOver)
        return Set(try cluster.psql("SELECT a FROM \(table)").split(separator: "\n").compactMap { Int($0) })
    }

    @Test("A request that is cut at any byte is told as not made only if it was not", arguments: [true, false])
    func requests(alone: Bool) throws {
        var told: [Int: Told] = [:]
        // From the whole request down to its first bytes; every byte of its end, where the commit is.
        for count in Array(0..<12) + Array(stride(from: 12, to: 200, by: 11)) {
            told[count] = try run(count, alone: alone, .cutShort("INSERT", by: count))
        }
        proxy.fail(nil)
        let committed = try committed()
        for (count, told) in told {
            // The answer to a whole request may overtake the cut.
            #expect(told != .made || count == 0, "\(count) bytes before the end")
            if told == .notMade { #expect(!committed.contains(count), "\(count) bytes before the end") }
        }
        // The cuts were where it matters.
        #expect(committed.contains(0) && !committed.contains(100))
        #expect(committed.contains(5) == !alone)
    }

    @Test("An answer that is cut at any byte is told as made, or in doubt", arguments: [true, false])
    func answers(alone: Bool) throws {
        var told: [Int: Told] = [:]
        // Every byte of its end: the answer to COMMIT, and that the server is ready.
        let end = alone ? 18..<36 : 70..<89
        for count in Array(stride(from: 0, to: end.lowerBound, by: 7)) + Array(end) {
            told[count] = try run(count, alone: alone, .cutAnswer("INSERT", after: count))
        }
        proxy.fail(nil)
        let committed = try committed()
        for (count, told) in told {
            #expect(told != .notMade, "after \(count) bytes")
            #expect(committed.contains(count))
        }
        #expect(told.values.contains { $0 == .inDoubt })
        // A COMMIT is answered before the server says that it is ready; a statement alone is not committed until then.
        #expect(told[end.upperBound - 1] == (alone ? .inDoubt : .made))
    }

    @Test(
        "A server whose bytes are garbled gives an error or an answer, within the time",
        arguments: [10, 40, 160] as [UInt64])
    func garbled(oneIn: UInt64) throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            proxy.fail(.garble(oneIn: oneIn, seed: seed))
            let start = ContinuousClock.now
            do throws(PQError) {
                let connection = try PQConnection(
                    PQTarget(cluster.tcp(port: proxy.port)), PQSession(applicationName: "tests"), by: soon(0.1),
                    PQInterruption())
                for _ in 0..<5 {
                    let row = try connection.run(
                        [PQStep("SELECT 1::int8, 'x'::text, '{1,2}'::int8[], '\\x00'::bytea", reading: true)],
                        by: soon(0.1))[0].row(0)
                    _ = (try row.int8(0), try row.text(1), try row.int8Array(2), try row.bytes(3))
                }
            } catch {
                #expect(error.kind != .interrupted, "seed \(seed)")
            }
            #expect(.now - start < .seconds(10), "seed \(seed)")
        }
    }
}
