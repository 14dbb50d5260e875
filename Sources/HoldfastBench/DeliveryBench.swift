internal import Foundation
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastFCM
internal import HoldfastJournal
internal import HoldfastLegacyAPNs

/// Delivers a backlog from a journal to a mock on this machine, and says how fast.
struct DeliveryBench {
    struct Run {
        /// Durable submissions per second.
        let submittedPerSecond: Double
        /// From the start of the engine, whose connection comes first, to the last durable settlement.
        let deliveredPerSecond: Double
        /// Processor time of this process for each notification delivered.
        let cpuMicroseconds: Double
        let privateMegabytes: Double
    }

    /// To whom, and how.
    enum Way {
        case http2(port: Int, streams: Int, window: Int)
        /// To Firebase Cloud Messaging, over one connection like Apple's.
        case fcm(port: Int, streams: Int, window: Int)
        /// Confirmed by barriers, with a window for each connection.
        case binary(port: Int, connections: Int, window: Int)
    }

    let count: Int
    let payloadBytes: Int
    let directory: String
    /// The mock's.
    let certificates: String
    let durability: LMDBJournal.Durability

    static let topic = "com.example.app"
    static let project = "mock-project"

    var payload: [UInt8] { Self.payload(payloadBytes) }

    /// A payload of so many bytes.
    static func payload(_ byteCount: Int) -> [UInt8] {
        filled(#"{"aps":{"alert":""#, #""}}"#, byteCount)
    }

    /// A message of Google's of so many bytes.
    private static func message(_ byteCount: Int) -> [UInt8] {
        filled(#"{"data":{"text":""#, #""}}"#, byteCount)
    }

    /// As many letters between two texts as are missing from so many bytes.
    private static func filled(_ head: String, _ tail: String, _ byteCount: Int) -> [UInt8] {
        let filler = String(repeating: "x", count: max(byteCount - head.utf8.count - tail.utf8.count, 0))
        return Array((head + filler + tail).utf8)
    }

    /// - Parameters:
    ///   - keepsHistory: whether what has ended is kept, as it is by default.
    ///   - isSealed: whether the journal is sealed.
    func run(_ way: Way, keepsHistory: Bool = true, isSealed: Bool = false) async throws -> Run {
        let scratch = try ScratchJournal("bench", in: directory, durability: durability, isSealed: isSealed)
        defer { scratch.remove() }
        return try await run(way, journal: scratch.journal, keepsHistory: keepsHistory)
    }

    /// The same with a journal of the caller's, which is empty.
    func run(_ way: Way, journal: any Journal, keepsHistory: Bool = true) async throws -> Run {
        var configuration = EngineConfiguration()
        configuration.history.isKept = keepsHistory
        switch way {
        case .http2(_, _, let window), .fcm(_, _, let window): configuration.window = window
        case .binary(_, _, let window): configuration.cumulativeWindow = window
        }
        let engine = try PushEngine(journal: journal, routes: [try route(way)], configuration: configuration)
        let submitted = try await submit(to: engine.producer, way)
        return try await deliver(engine, submitted: submitted)
    }

    private func route(_ way: Way) throws -> Route {
        let trust = TrustedCertificates.file("\(certificates)/ca.pem")
        switch way {
        case .http2(let port, let streams, _):
            let key = try APNsSigningKey(
                file: "\(certificates)/AuthKey.p8", keyID: "MOCKKEYID1", teamID: "MOCKTEAMID")
            var connection = APNsConnector.Configuration(
                endpoint: try APNsEndpoint("https://127.0.0.1:\(port)"), trust: trust, signingKey: key)
            connection.maximumStreams = streams
            return Route(connector: try APNsConnector(connection))
        case .fcm(let port, let streams, _):
            var connection = FCMConnector.Configuration(
                serviceAccount: try ServiceAccount(file: "\(certificates)/service-account.json"))
            connection.endpoint = try FCMEndpoint("https://127.0.0.1:\(port)")
            connection.trust = trust
            connection.maximumStreams = streams
            return Route(connector: try FCMConnector(connection), connections: 1)
        case .binary(let port, let connections, _):
            let endpoint = try LegacyAPNsEndpoint("binary+tls://127.0.0.1:\(port)")
            return Route(
                connector: try LegacyAPNsConnector(.init(endpoint: endpoint, trust: trust)), connections: connections)
        }
    }

    /// - Returns: durable submissions per second.
    private func submit(to producer: Producer, _ way: Way) async throws -> Double {
        let payload = payload
        let message = Self.message(payloadBytes)
        let start = ContinuousClock.now
        for first in stride(from: 0, to: count, by: 5000) {
            let numbers = first..<min(first + 5000, count)
            let batch = try numbers.map { number in
                // Each has the address of its own service alone: the making of both would be what is measured.
                if case .fcm = way {
                    PushNotification(address: try Self.address(number), topic: Self.project, payload: message)
                } else {
                    PushNotification(token: Self.token(number), topic: Self.topic, payload: payload, pushType: .alert)
                }
            }
            for receipt in await producer.submit(batch) { _ = try receipt.get() }
        }
        return Double(count) / (ContinuousClock.now - start).seconds
    }

    /// As long as a token of Apple's in hexadecimal.
    private static func address(_ number: Int) throws -> ServiceAddress {
        let digits = String(number)
        return try ServiceAddress(
            .firebaseInstallation, String(repeating: "d", count: max(64 - digits.utf8.count, 0)) + digits)
    }

    static func token(_ number: Int) -> DeviceToken {
        var bytes = [UInt8](repeating: 0x5A, count: 32)
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        // 32 bytes are a token.
        return DeviceToken(bytes: bytes)!
    }

    private func deliver(_ engine: PushEngine, submitted: Double) async throws -> Run {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let before = ProcessFigures.now()
            let start = ContinuousClock.now
            group.addTask { try await engine.run() }
            // Where only errors are answered, nothing is known before a barrier is: it is not waited for in idleness.
            while engine.status().handedOut < count { try await Task.sleep(for: .milliseconds(1)) }
            engine.writeBarriers()
            let rest = await engine.untilIdle()
            let elapsed = (ContinuousClock.now - start).seconds
            let after = ProcessFigures.now()
            let memory = ProcessFigures.privateBytes()
            let status = engine.status()
            group.cancelAll()
            guard rest == .drained, status.confirmed == count else {
                throw BenchFailure("\(status.confirmed) of \(count) were confirmed (\(rest))")
            }
            return Run(
                submittedPerSecond: submitted, deliveredPerSecond: Double(count) / elapsed,
                cpuMicroseconds: (after.own - before.own) * 1_000_000 / Double(count),
                privateMegabytes: Double(memory) / 1_048_576)
        }
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
