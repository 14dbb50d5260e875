import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A full journal") struct RoomTests {
    private func configuration(_ whenFull: WhenFull) -> EngineConfiguration {
        var configuration = EngineConfiguration()
        configuration.whenFull = whenFull
        return configuration
    }

    private func receipts(
        _ whenFull: WhenFull, _ count: Int, delivers: Bool, room: Int = 10
    ) async throws -> [Receipt] {
        let journal = InMemoryJournal()
        journal.limitEntries(to: room)
        let connector = InMemoryConnector { _ in .confirmed }
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: configuration(whenFull))
        _ = await engine.producer.submit((1...room).map { Sample.notification($0) })
        return await withTaskGroup(of: [Receipt]?.self) { group in
            if delivers {
                group.addTask {
                    do { try await engine.run() } catch { Issue.record(error) }
                    return nil
                }
            }
            for number in 0..<count {
                group.addTask { await engine.producer.submit([Sample.notification(1000 + number)]) }
            }
            var receipts: [Receipt] = []
            while receipts.count < count, let more = await group.next() { receipts += more ?? [] }
            group.cancelAll()
            return receipts
        }
    }

    @Test("Refuses at once, if that is wanted") func refuses() async throws {
        let receipts = try await receipts(.refuse, 3, delivers: false)
        #expect(receipts.allSatisfy { $0.isRefusedForWantOfRoom })
    }

    @Test("Has many wait for room, if that is wanted, and takes all of them as it drains") func waits() async throws {
        let receipts = try await receipts(.wait(atMost: .seconds(60)), 200, delivers: true)
        #expect(receipts.count == 200)
        #expect(receipts.allSatisfy { if case .accepted = $0 { true } else { false } })
    }

    @Test("Refuses after the time that was to be waited") func waitsInVain() async throws {
        let start = ContinuousClock.now
        let receipts = try await receipts(.wait(atMost: .milliseconds(50)), 2, delivers: false)
        #expect(receipts.allSatisfy { $0.isRefusedForWantOfRoom })
        #expect(ContinuousClock.now - start >= .milliseconds(50))
    }

    @Test("Takes what there is room for of a batch, and the rest later, each in its place among the receipts")
    func partly() async throws {
        let journal = InMemoryJournal()
        journal.limitEntries(to: 5)
        var configuration = configuration(.wait(atMost: .seconds(60)))
        configuration.submissionChunk = 2
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: InMemoryConnector { _ in .confirmed })],
            configuration: configuration)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await engine.run() } catch { Issue.record(error) }
            }
            var bad = Sample.notification(3)
            bad.topic = ""
            let receipts = await engine.producer.submit([
                Sample.notification(1), Sample.notification(2), bad, Sample.notification(4), Sample.notification(5),
                Sample.notification(6), Sample.notification(7), Sample.notification(8), Sample.notification(9),
            ])
            #expect(receipts.indices.filter { receipts[$0].uid == nil } == [2])
            group.cancelAll()
        }
    }
}
