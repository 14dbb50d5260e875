import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastGateway
import HoldfastTesting
import Logging
import RawClients
import Trials

/// A client that does anything, on a socket to a gateway whose journal may be full or broken, beside one that behaves.
///
/// What must be true whatever it does: what is on disk is what it wrote first, in order and without a gap; it is told at
/// most one thing, which is true of what is on disk; its connection ends; and the other client does not notice.
struct BinaryIngressTrial {
    struct Breach: Error, CustomStringConvertible {
        let description: String
        init(_ what: String) { description = what }
    }

    private enum Trouble: CaseIterable {
        case none, full, fullForAWhile, broken
    }

    /// How the client goes.
    private enum Exit: CaseIterable {
        case closesOutput, vanishes, waits
    }

    private static let limit = Duration.seconds(15)
    private static let topic = "com.example.app"

    private var random: SeededRandom
    private let script: BinaryScript
    private let trouble: Trouble
    private let exit: Exit
    private let journal = InMemoryJournal()

    static func run(seed: UInt64) async throws {
        var trial = BinaryIngressTrial(seed: seed)
        try await trial.run()
    }

    private init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        script = BinaryScript(&random)
        trouble = random.once(in: 2) ? .none : random.one(of: Trouble.allCases)
        exit = random.one(of: Exit.allCases)
    }

    private mutating func run() async throws {
        var logger = Logger(label: "fuzz")
        logger.logLevel = .critical
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: InMemoryConnector())], logger: logger)
        guard let token = DeviceToken(bytes: BinaryScript.badToken) else { throw Breach("32 bytes are no token") }
        try await engine.blacklist.add([
            BlacklistEntry(
                token: token, reason: .unregistered, since: WallTime(seconds: 1), learntAt: WallTime(seconds: 1),
                route: "default")
        ])
        var configuration = GatewayConfiguration()
        var binary = BinaryIngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0), topic: Self.topic)
        binary.uncommitted = random.one(of: [1, 3, 20, 1000])
        binary.roomLimit = .milliseconds(trouble == .full ? 1 : 60_000)
        // A client that waits for an answer when none is due is let go by it.
        binary.limits.idle = .milliseconds(exit == .waits ? 100 : 60_000)
        configuration.binary = binary
        configuration.drainLimit = Self.limit
        let gateway = try await Gateway(configuration, engine: engine, logger: logger)
        let port = gateway.addresses["binary"]?.port ?? 0
        let task = Task { try await gateway.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await play(port)) } catch { result = .failure(error) }
        task.cancel()
        try await task.value
        try result.get()
    }

    private mutating func play(_ port: Int) async throws {
        makeTrouble()
        async let other: Void = trouble == .none ? Self.behave(port, journal) : ()
        let client = try await RawClient(port: port)
        var rest = script.bytes[...]
        let pieces = random.one(of: [1, 7, 100, 5000, 100_000])
        var isOpen = true
        while isOpen, let piece = Optional(rest.prefix(1 + random.below(pieces))), !piece.isEmpty {
            isOpen = await client.isTaken(piece)
            rest = rest.dropFirst(piece.count)
            if pieces == 1, rest.count > 400 {
                isOpen = await client.isTaken(rest.dropLast(200))
                rest = rest.suffix(200)
            }
        }
        switch exit {
        case .closesOutput: await client.endOutput()
        case .vanishes: await client.close()
        case .waits: break
        }
        if trouble == .fullForAWhile { journal.limitEntries(to: nil) }
        guard let received = await client.untilEnd(limit: Self.limit) else {
            throw Breach("the connection did not end")
        }
        try judge(received)
        try await other
    }

    private mutating func makeTrouble() {
        switch trouble {
        case .none: break
        case .full, .fullForAWhile: journal.limitEntries(to: random.below(30))
        case .broken: journal.breakNextCommit(leaving: .nothing)
        }
    }

    // MARK: Judging

    private func judge(_ received: [UInt8]) throws {
        let stored = journal.entries.map(\.notification.payload).filter { !$0.starts(with: Self.goodMark) }
        let good = script.items.prefix { $0.status == nil }
        let honest = script.items.prefix(min(script.honestCount, good.count)).map(\.payload)
        guard stored.starts(with: honest.prefix(stored.count)) else {
            throw Breach("what is on disk is not what was written first")
        }
        guard received.isEmpty || received.count == 6 && received[0] == 8 else {
            throw Breach("\(received.count) bytes were said, which are no error response")
        }
        guard script.isHonest else { return }
        guard stored.count <= good.count else { throw Breach("something behind the refused notification is on disk") }
        let name = received.dropFirst(2).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        switch received.dropFirst().first {
        case nil:
            // Silence proves everything only to one who was not sent away and did not go.
            if exit == .closesOutput, trouble == .none, stored.count != script.items.count {
                throw Breach("\(stored.count) of \(script.items.count) are on disk behind a close without a word")
            }
        case 10:
            let last = script.items.prefix(stored.count).last { $0.command != 0 }
            guard name == last?.identifier ?? 0 else { throw Breach("status 10 names \(name), not \(last?.name ?? 0)") }
        case let status?:
            guard good.count < script.items.count, script.items[good.count].status == status,
                script.items[good.count].name == name, stored.count == good.count
            else { throw Breach("status \(status) for \(name) with \(stored.count) on disk") }
        }
    }

    // MARK: The client that behaves

    private static let goodMark = Array(#"{"aps":{"alert":"good"#.utf8)

    private static func behave(_ port: Int, _ journal: InMemoryJournal) async throws {
        let client = try await RawClient(port: port)
        let payloads = (0..<20).map { goodMark + Array(#" \#($0)"}}"#.utf8) }
        for payload in payloads {
            let token = [UInt8](repeating: 7, count: 32)
            guard await client.isTaken([0, 0, 32] + token + [0, UInt8(payload.count)] + payload) else {
                throw Breach("the client that behaves was sent away")
            }
        }
        await client.endOutput()
        guard await client.untilEnd(limit: limit) == [] else { throw Breach("the client that behaves was answered") }
        guard journal.entries.map(\.notification.payload).filter({ $0.starts(with: goodMark) }) == payloads else {
            throw Breach("not all of the client that behaves is on disk")
        }
    }
}
