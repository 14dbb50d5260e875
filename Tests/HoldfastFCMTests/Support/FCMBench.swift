import Foundation
import HoldfastMockFCM
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastFCM
@testable import HoldfastTesting

extension FCMConnector.Configuration {
    /// For a mock on loopback, with access tokens of its own, so that tests do not share them.
    init(_ mock: MockFCMServer, clock: EngineClock = .system) throws {
        self.init(serviceAccount: try ServiceAccount(file: mock.serviceAccountFile))
        endpoint = try FCMEndpoint("https://\(mock.address)")
        trust = .file(mock.certificateAuthorityFile)
        self.clock = clock
        tokens = AccessTokenRegistry(clock: clock)
    }
}

/// Messages to send.
enum FCMSample {
    static let project = MockFCMConfiguration().project

    static func message(
        _ number: Int, _ kind: ServiceAddress.Kind = .firebaseInstallation, target: String? = nil,
        payload: String? = nil, expiration: Expiration? = nil, guarantee: Guarantee = .atLeastOnce
    ) throws -> PushNotification {
        PushNotification(
            address: try ServiceAddress(kind, target ?? "target-\(number)"), topic: project,
            payload: Array((payload ?? #"{"notification":{"title":"number \#(number)"}}"#).utf8),
            expiration: expiration,
            guarantee: guarantee)
    }
}

/// One connection of the connector, without an engine: what is handed to it, and what it says.
final class FCMBench: Sendable {
    let connection: any Connection
    private let recorder = ConnectionRecorder(.perNotification)
    private let nextTicket = Monitor<UInt64>(1)

    init(_ connector: FCMConnector) async throws { connection = try await connector.connect(recorder.sink) }

    var now: ConnectionRecorder.State { recorder.now }

    /// Hands out these, with tickets from 1 on.
    func handOut(_ notifications: [PushNotification]) {
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        var tickets: [Ticket] = []
        let first = nextTicket.withLock { next in
            defer { next += UInt64(notifications.count) }
            return next
        }
        for (number, notification) in zip(first..., notifications) {
            let start = bytes.count
            PackedNotification.append(
                notification, id: notification.id ?? SampleNotification.id(Int(number)),
                expiration: notification.expiration ?? SampleNotification.expiration,
                acceptedAt: SampleNotification.acceptedAt, producer: "default", to: &bytes)
            items.append(EntryBatch.Item(uid: UID(number), attempts: 0, range: start..<bytes.count))
            tickets.append(Ticket(rawValue: number))
        }
        recorder.handingOut(tickets)
        connection.send(HandOut(entries: EntryBatch(bytes: bytes, items: items), tickets: tickets))
    }

    /// - Returns: whether it came about within ten seconds.
    func until(_ condition: @escaping (ConnectionRecorder.State) -> Bool) async -> Bool {
        let recorder = recorder
        return await Patience(.seconds(10)).wait(for: { condition(recorder.now) })
    }

    /// All that was handed out is answered.
    func untilAnswered() async -> Bool { await until { $0.unanswered.isEmpty } }

    /// The connection has ended by itself.
    func untilEnded() async -> Bool { await until { $0.end != nil } }

    func result(_ ticket: UInt64) -> SendResult? { now.answers[Ticket(rawValue: ticket)] }

    /// Closes the connection, and looks at what must never be.
    func finish() async {
        if now.end == nil { connection.close(deadline: .zero) }
        #expect(await until { $0.end != nil })
        #expect(now.violations == [])
    }
}

/// Google's own libraries, from PyPI: a judge that we did not write.
enum GoogleAuth {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let python = root.appendingPathComponent(".build/python/bin/python3").path
    /// Scripts/bootstrap --tests puts it there.
    static let isThere =
        ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN"] == "1"
        || FileManager.default.isExecutableFile(atPath: python)

    /// Runs a program in Python, and hands back what it printed.
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-c", program] + arguments
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("printed-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try FileHandle(forWritingTo: file)
        (process.standardOutput, process.standardError) = (output, output)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        guard process.terminationStatus == 0 else { throw Failure(text: text) }
        return text
    }

    struct Failure: Error { let text: String }
}
