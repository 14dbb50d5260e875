import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestCopies
import TestPostgres
import Testing

/// Hosts that own a journal one after another, with copies that they keep or lose, over connections that are cut.
@Suite("The log at random", .enabled(if: PostgresProgram.isWanted))
struct LogModelTests {
    private struct Host {
        let folder: TemporaryFolder
        var copy: Copy?
    }

    @Test("Whatever happens, a copy that is built has just what was committed", arguments: UInt64(1)...2)
    func random(seed: UInt64) throws {
        let log = try OwnLog()
        let proxy = try FaultProxy(to: log.schema.cluster.port)
        let connection = try log.schema.asService()
        var random = Xoshiro256(seed: seed)
        func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
        var hosts = try (0..<2).map { _ in Host(folder: try TemporaryFolder(), copy: nil) }
        var epoch = log.epoch
        var (committed, number) = (TableRows(), UInt64(0))
        for _ in 0..<12 {
            // An owner opens: a new epoch, its copy brought to the end, a gate over the lame connection.
            let index = Int.random(in: 0...1, using: &random)
            epoch = try log.take()
            let place = try log.builder(epoch: epoch, pageByteCount: 3000).build(
                in: hosts[index].folder.path, over: connection)
            #expect(place.number == number)
            let gate = try log.gate(after: number, epoch: epoch, port: proxy.port)
            let copy = try Copy(gate, seed: random.next(), in: hosts[index].folder)
            #expect(try copy.rows == committed)
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let cut = Int.random(in: 0...60, using: &random)
                let isCut = chance(0.3)
                if isCut {
                    proxy.fail(chance(0.5) ? .cutShort("keep_commit", by: cut) : .cutAnswer("keep_commit", after: cut))
                }
                let commit = Background { [copy = Handed(copy)] in try copy.value.commit(12, value: 900) }
                if isCut { usleep(10_000) }
                proxy.fail(nil)
                try commit.value()
                number += 1
                guard chance(0.3) else { continue }
                // A checkpoint, or a part of one.
                let calls = log.checkpoints(epoch: epoch)
                if chance(0.5) {
                    _ = try log.checkpointer(epoch: epoch).make(of: copy.open, over: connection)
                } else {
                    #expect(try calls.trim(connection, by: soon()))
                    if chance(0.8) { _ = try calls.begin(connection, by: soon()) }
                    if chance(0.5), try refusal({ try calls.put(0, [[1]], connection, by: soon()) }) == nil {
                        #expect(
                            try refusal { try calls.end(number, sum: 0, chunks: 2, connection, by: soon()) } == "HF004")
                    }
                }
            }
            (committed, number) = (try copy.rows, try copy.number)
            copy.close()
            if chance(0.2) { hosts[index] = Host(folder: try TemporaryFolder(), copy: nil) }
            #expect(try rebuilt(log, epoch: epoch) == committed)
        }
    }

    private func refusal(_ body: () throws -> Void) throws -> String? {
        do {
            try body()
            return nil
        } catch let error as PQError { return error.sqlState }
    }
}
