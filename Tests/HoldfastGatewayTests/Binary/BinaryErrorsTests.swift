import HoldfastAPNsAnswers
import HoldfastLegacyAPNs
import HoldfastTesting
import Logging
import NIOCore
import RawClients
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Errors about notifications that were on disk already, by what goes over the wire.
@Suite("The binary protocol: errors about what the push service rejects", .timeLimit(.minutes(1)))
struct BinaryErrorsTests {
    /// A gateway that says them, with an engine that delivers behind it.
    private struct World: Sendable {
        let connector: InMemoryConnector
        let gateway: Gateway

        var port: Int { gateway.addresses["binary"]?.port ?? 0 }
        var figures: IngressFigures.Values { gateway.figures.first { $0.name == "binary" }?.values ?? .init() }
        /// The payloads that went out, each as often as it did.
        var sent: [[UInt8]] { connector.sent.map(\.payload) }

        static func run(
            bad: Set<Int>, _ change: Change<BinaryIngressConfiguration> = Change { _ in },
            _ body: (World) async throws -> Void
        ) async throws {
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let tokens = Set(bad.map { SampleNotification.token($0).bytes })
            let connector = InMemoryConnector { notification in
                tokens.contains(notification.token?.bytes ?? [])
                    ? SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_700_000_000))
                    : .confirmed
            }
            let engine = try PushEngine(
                journal: InMemoryJournal(), routes: [Route(connector: connector, topics: [BinaryGateway.topic])],
                logger: logger)
            var configuration = GatewayConfiguration()
            var binary = BinaryIngressConfiguration(
                listen: ListenAddress(host: "127.0.0.1", port: 0), topic: BinaryGateway.topic)
            binary.tellsErrors = true
            try change.apply(&binary)
            configuration.binary = binary
            configuration.drainLimit = .seconds(5)
            let gateway = try await Gateway(configuration, engine: engine, logger: logger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await engine.run() }
                group.addTask { try await gateway.run() }
                defer { group.cancelAll() }
                try await body(World(connector: connector, gateway: gateway))
            }
        }
    }

    private func wait(_ condition: () -> Bool) async -> Bool { await Patience(.seconds(10)).wait(for: condition) }

    private static func request(_ number: Int) -> BinaryRequest {
        var request = BinaryIngressTests.request(number)
        request.expiration = 4_000_000_000
        return request
    }

    private static func bytes(_ numbers: some Sequence<Int>) -> [UInt8] {
        BinaryIngressTests.bytes(numbers.map(request))
    }

    private static func payload(_ number: Int) -> [UInt8] { BinaryIngressTests.payload(number) }

    @Test("An error names the first one that the push service rejected, and a sender that sends again doubles nothing")
    func resends() async throws {
        try await World.run(bad: [3, 7]) { world in
            let first = try await RawClient(port: world.port)
            try await first.send(Self.bytes(1...10))
            #expect(await first.untilEnd() == [8, 8, 0, 0, 0, 3])
            #expect(await wait { world.sent.count == 10 })
            // It sends everything behind it again, and hears of the next one.
            let second = try await RawClient(port: world.port)
            try await second.send(Self.bytes(4...10))
            #expect(await second.untilEnd() == [8, 8, 0, 0, 0, 7])
            let third = try await RawClient(port: world.port)
            try await third.send(Self.bytes([8, 9, 10, 11]))
            #expect(await wait { world.sent.count == 11 })
            try await third.closeOutput()
            #expect(await third.untilEnd() == [])
            #expect(Set(world.sent) == Set((1...11).map(Self.payload)) && world.sent.count == 11)
            #expect(world.figures.accepted == 11 && world.figures.repeated == 10)
            #expect(world.figures.told == ["InvalidToken": 2])
        }
    }

    @Test("A sender that does not send again loses nothing of what was read")
    func doesNotResend() async throws {
        // So few at a time that the error is known while others wait; and all of them in one read.
        try await World.run(bad: [1], Change { $0.uncommitted = 2 }) { world in
            let client = try await RawClient(port: world.port)
            try await client.send(Self.bytes(1...10))
            #expect(await client.untilEnd() == [8, 8, 0, 0, 0, 1])
            #expect(await wait { Set(world.sent) == Set((1...10).map(Self.payload)) })
            #expect(world.sent.count == 10)
        }
    }

    @Test("One like another that was called discarded counts as often as there were such")
    func counts() async throws {
        try await World.run(bad: [1]) { world in
            let first = try await RawClient(port: world.port)
            try await first.send(Self.bytes([1, 2, 2]))
            #expect(await first.untilEnd() == [8, 8, 0, 0, 0, 1])
            #expect(await wait { world.sent.count == 3 })
            let second = try await RawClient(port: world.port)
            try await second.send(Self.bytes([2, 2, 2]))
            // It may be sent before its submission is counted.
            #expect(await wait { world.sent.count == 4 && world.figures.repeated == 2 && world.figures.accepted == 4 })
            #expect(world.sent.count == 4)
        }
    }

    @Test("A new notification among those that come again is taken, and in its place")
    func mixed() async throws {
        try await World.run(bad: [1]) { world in
            let first = try await RawClient(port: world.port)
            try await first.send(Self.bytes(1...4))
            #expect(await first.untilEnd() == [8, 8, 0, 0, 0, 1])
            let second = try await RawClient(port: world.port)
            try await second.send(Self.bytes([2, 20, 3, 21, 4]))
            #expect(await wait { world.sent.count == 6 })
            try await second.closeOutput()
            #expect(await second.untilEnd() == [])
            #expect(Array(world.sent.suffix(2)) == [Self.payload(20), Self.payload(21)])
        }
    }

    @Test("A barrier is answered when everything before it has ended, and an earlier rejection goes before it")
    func barrier() async throws {
        try await World.run(bad: [2]) { world in
            let client = try await RawClient(port: world.port)
            let barrier = BinaryIngressTests.request(9, token: [])
            try await client.send(Self.bytes(1...3) + BinaryIngressTests.bytes([barrier]))
            #expect(await client.untilEnd() == [8, 8, 0, 0, 0, 2])
            let again = try await RawClient(port: world.port)
            try await again.send(Self.bytes([3]) + BinaryIngressTests.bytes([barrier]))
            #expect(await again.untilEnd() == [8, 2, 0, 0, 0, 9])
            #expect(world.sent.count == 3)
        }
    }

    @Test("A client that closes its side is told of what is rejected then, and waits no longer than the limit")
    func closesItsSide() async throws {
        try await World.run(bad: []) { world in
            world.connector.answer { _ in nil }
            let client = try await RawClient(port: world.port)
            try await client.send(Self.bytes(1...3))
            try await client.closeOutput()
            #expect(await wait { world.sent.count == 3 })
            world.connector.answerWaiting { _ in
                SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_700_000_000))
            }
            #expect(await client.untilEnd() == [8, 8, 0, 0, 0, 1])
        }
        try await World.run(bad: [], Change { $0.errorWait = .milliseconds(200) }) { world in
            world.connector.answer { _ in nil }
            let client = try await RawClient(port: world.port)
            try await client.send(Self.bytes(1...3))
            try await client.closeOutput()
            #expect(await client.untilEnd() == [])
        }
    }

    @Test("What has no identifier is not named")
    func withoutIdentifier() async throws {
        try await World.run(bad: [1]) { world in
            let client = try await RawClient(port: world.port)
            var request = Self.request(1)
            request.identifier = nil
            try await client.send(BinaryIngressTests.bytes([request]) + Self.bytes([2]))
            #expect(await wait { world.sent.count == 2 })
            try await client.closeOutput()
            #expect(await client.untilEnd() == [])
        }
    }

    @Test("A shutdown says what is on disk, and no error that a gateway started again would not remember")
    func shutdown() async throws {
        var client: RawClient?
        try await World.run(bad: []) { world in
            world.connector.answer { _ in nil }
            let sender = try await RawClient(port: world.port)
            try await sender.send(Self.bytes(1...5))
            #expect(await wait { world.sent.count == 5 })
            client = sender
        }
        #expect(await client?.untilEnd() == [8, 10, 0, 0, 0, 5])
    }

    @Test("Beyond the limit no error is said of the oldest, and nothing goes twice")
    func limit() async throws {
        try await World.run(bad: [1], Change { $0.errorCount = 3 }) { world in
            world.connector.answer { _ in nil }
            let client = try await RawClient(port: world.port)
            try await client.send(Self.bytes(1...10))
            #expect(await wait { world.sent.count == 10 })
            world.connector.answerWaiting { notification in
                switch notification.payload {
                case Self.payload(9):
                    SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_700_000_000))
                case Self.payload(1): SendResult(apnsStatus: 413, reason: "PayloadTooLarge")
                default: .confirmed
                }
            }
            #expect(await client.untilEnd() == [8, 8, 0, 0, 0, 9])
        }
    }

    @Test("Without the setting nothing is said about what is on disk")
    func off() async throws {
        try await World.run(bad: [1], Change { $0.tellsErrors = false }) { world in
            let client = try await RawClient(port: world.port)
            try await client.send(Self.bytes(1...3))
            #expect(await wait { world.sent.count == 3 })
            try await client.closeOutput()
            #expect(await client.untilEnd() == [])
        }
    }

    @Test("What is remembered is forgotten after its time, and its place is free")
    func memory() {
        let places = SharedPlaces(limit: 10)
        let repeats = BinaryRepeats(places: places)
        let now = NIODeadline.uptimeNanoseconds(1)
        func key(_ number: Int, sender: String = "a") -> BinaryRepeats.Key {
            repeats.key(of: BinaryIngressTests.request(number), from: Array(sender.utf8), topic: "t")
        }
        #expect(places.take(3) == 3)
        repeats.remember((1...3).map { (key($0), BinaryFate()) }, until: now + .seconds(10), now: now)
        #expect(repeats.knows(key(1), at: now) && !repeats.knows(key(1, sender: "b"), at: now))
        #expect(repeats.claim(key(2), at: now) != nil && repeats.claim(key(2), at: now) == nil)
        #expect(places.taken == 3)
        repeats.expire(at: now + .seconds(10))
        #expect(!repeats.knows(key(1), at: now + .seconds(10)))
        #expect(places.taken == 1)
    }

    @Test("An error waits for the end of earlier ones, for a while")
    func order() {
        var accepted = BinaryAccepted(patience: .seconds(10))
        let now = NIODeadline.uptimeNanoseconds(1)
        let repeats = BinaryRepeats(places: SharedPlaces(limit: 10))
        let numbers = (0..<4).map { number in
            accepted.append(
                .init(
                    BinaryFate(), repeats.key(of: BinaryIngressTests.request(number), from: [], topic: "t"),
                    identifier: UInt32(number)))
        }
        func freed(_ number: Int, _ ending: BinaryFate.Ending) -> Int {
            accepted.ended(numbers[number], ending, at: now)
        }
        #expect(freed(2, .rejected(.invalidToken)) == 0)
        #expect(accepted.rejection(at: now) == nil)
        #expect(accepted.rejection(at: now + .seconds(10)) == ErrorResponse(status: .invalidToken, identifier: 2))
        #expect(freed(0, .fine) == 1)
        #expect(freed(1, .rejected(.invalidPayloadSize)) == 0)
        #expect(accepted.rejection(at: now) == ErrorResponse(status: .invalidPayloadSize, identifier: 1))
        let told = accepted.takeThroughRejection()
        // Called discarded, although it has been taken meanwhile.
        #expect(freed(3, .fine) == 0 && freed(2, .fine) == 0)
        let behind = accepted.takeAll()
        #expect(told.count == 1 && behind.count == 2)
    }
}
