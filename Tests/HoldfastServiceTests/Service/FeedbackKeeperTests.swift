import Foundation
import Holdfast
import HoldfastTesting
import Logging
import Scratch
import ServiceLifecycle
import Testing

@testable import HoldfastService

@Suite("Readers of feedback", .timeLimit(.minutes(1)))
struct FeedbackKeeperTests {
    private static func tuples(_ tokens: ClosedRange<UInt8>) throws -> [FeedbackTuple] {
        try tokens.map { number in
            FeedbackTuple(
                token: try #require(DeviceToken(bytes: [UInt8](repeating: number, count: 32))),
                since: WallTime(seconds: 1_700_000_000))
        }
    }

    private static func reader(_ source: InMemoryFeedback, _ engine: PushEngine) -> FeedbackReader {
        var configuration = FeedbackReader.Configuration()
        configuration.stopLimit = .seconds(30)
        return FeedbackReader(source, blacklist: engine.blacklist, configuration: configuration)
    }

    @Test("A reading under way is not cut short by others that take its place: what the service tells, it tells once")
    func exchange() async throws {
        let engine = try PushEngine(journal: InMemoryJournal(), routes: [Route(connector: InMemoryConnector())])
        let (first, second) = (InMemoryFeedback(try Self.tuples(1...3)), InMemoryFeedback(try Self.tuples(7...9)))
        first.holdOpen(true)
        let keeper = FeedbackKeeper([Self.reader(first, engine)], logger: Logger(label: "test"))
        let group = ServiceGroup(services: [keeper], logger: Logger(label: "test"))
        async let ended: Void = group.run()
        #expect(await first.waitUntil { $0.openCount == 1 && $0.pending.isEmpty })
        keeper.exchange([Self.reader(second, engine)])
        #expect(await Patience(.milliseconds(100)).wait { second.readingCount > 0 } == false)
        first.add(try Self.tuples(4...6))
        #expect(await first.waitUntil { $0.pending.isEmpty })
        first.holdOpen(false)
        #expect(await second.waitUntil { $0.readingCount == 1 && $0.openCount == 0 })
        #expect(engine.blacklist.count == 9)
        #expect(first.readingCount == 1)
        await group.triggerGracefulShutdown()
        try await ended
    }

    @Test("At the end a reading under way has its time, too")
    func shutdown() async throws {
        let engine = try PushEngine(journal: InMemoryJournal(), routes: [Route(connector: InMemoryConnector())])
        let source = InMemoryFeedback()
        source.holdOpen(true)
        let keeper = FeedbackKeeper([Self.reader(source, engine)], logger: Logger(label: "test"))
        let group = ServiceGroup(services: [keeper], logger: Logger(label: "test"))
        async let ended: Void = group.run()
        #expect(await source.waitUntil { $0.openCount == 1 })
        await group.triggerGracefulShutdown()
        #expect(await Patience(.milliseconds(100)).wait { source.openCount == 0 } == false)
        source.add(try Self.tuples(1...3))
        #expect(await source.waitUntil { $0.pending.isEmpty })
        source.holdOpen(false)
        try await ended
        #expect(engine.blacklist.count == 3)
    }
}
