internal import Foundation
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastGateway
internal import HoldfastJournal
internal import Logging

/// h2load through a gateway of this process, and to the mock itself.
struct GatewayBench {
    struct Run {
        /// What h2load was answered 200 for, each second.
        let acceptedPerSecond: Double
        /// From h2load's start to the last durable settlement.
        let deliveredPerSecond: Double
        /// Processor time of the gateway, engine and journal for each notification, its delivery included.
        let cpuMicroseconds: Double
        let privateMegabytes: Double
    }

    let yardstick: Yardstick
    let mockPort: Int
    let streams: Int
    let connections: Int
    let directory: String
    let durability: LMDBJournal.Durability
    /// How long requests wait for the service's answer; nil for not at all.
    var answerWait: Duration?
    private let payload: [UInt8]
    private let bodyFile: String

    init(
        yardstick: Yardstick, mockPort: Int, streams: Int, connections: Int, payload: [UInt8], directory: String,
        durability: LMDBJournal.Durability
    ) throws {
        (self.yardstick, self.mockPort, self.streams, self.connections) = (yardstick, mockPort, streams, connections)
        (self.payload, self.directory, self.durability) = (payload, directory, durability)
        bodyFile = "\(directory)/body"
        try Data(payload).write(to: URL(fileURLWithPath: bodyFile))
    }

    // What a sender with token authentication sends. No apns-id: h2load would give all its requests the same one, and all
    // but the first would be repeats.
    private static let headers = [
        "apns-topic: \(DeliveryBench.topic)", "apns-push-type: alert", "apns-expiration: 1900000000",
        "authorization: bearer " + String(repeating: "x", count: 180),
    ]

    private func load(_ count: Int, port: Int, streams: Int? = nil, more: [String] = []) throws -> Yardstick.Run {
        try yardstick.run(
            count: count, streams: streams ?? self.streams, connections: connections, headers: Self.headers,
            bodyFile: bodyFile, url: "https://127.0.0.1:\(port)/3/device/" + String(repeating: "5a", count: 32),
            more: more)
    }

    /// h2load to the mock itself.
    func direct(_ count: Int) throws -> Yardstick.Run { try load(count, port: mockPort) }

    /// h2load to the gateway, until everything has been delivered.
    func through(_ count: Int) async throws -> Run {
        try await withGateway { engine, port in
            let before = ProcessFigures.now()
            let start = ContinuousClock.now
            let run = try load(count, port: port)
            let rest = await engine.untilIdle()
            let elapsed = (ContinuousClock.now - start).seconds
            let after = ProcessFigures.now()
            guard rest == .drained, engine.status().confirmed == count else {
                throw BenchFailure("\(engine.status().confirmed) of \(count) were confirmed (\(rest))")
            }
            return Run(
                acceptedPerSecond: run.perSecond, deliveredPerSecond: Double(count) / elapsed,
                cpuMicroseconds: (after.own - before.own) * 1_000_000 / Double(count),
                privateMegabytes: Double(ProcessFigures.privateBytes()) / 1_048_576)
        }
    }

    /// How long single requests take, one after the other, in microseconds.
    func latencies(_ count: Int, perSecond: Int) async throws -> [Double] {
        let log = "\(directory)/answers"
        defer { try? FileManager.default.removeItem(atPath: log) }
        return try await withGateway { _, port in
            _ = try load(count, port: port, streams: 1, more: ["--rps", "\(perSecond)", "--log-file", log])
            // Start, status, duration.
            let times = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap { line in
                line.split(separator: "\t").dropFirst(2).first.flatMap { Double($0) }
            }
            guard times.count == count else { throw BenchFailure("h2load tells \(times.count) of \(count) times") }
            return times
        }
    }

    /// How long the journal takes for single notifications without a gateway, in microseconds: the floor of what a request
    /// takes.
    func commits(_ count: Int, perSecond: Int) throws -> [Double] {
        let scratch = try ScratchJournal("commits", in: directory, durability: durability)
        defer { scratch.remove() }
        return try TimedAppends(scratch.journal, payload: payload).singly(count, perSecond: perSecond)
    }

    private func withGateway<R: Sendable>(_ body: (PushEngine, _ port: Int) async throws -> R) async throws -> R {
        let scratch = try ScratchJournal("bench", in: directory, durability: durability)
        defer { scratch.remove() }
        let certificates = "\(directory)/certificates"
        var connection = APNsConnector.Configuration(
            endpoint: try APNsEndpoint("https://127.0.0.1:\(mockPort)"), trust: .file("\(certificates)/ca.pem"),
            signingKey: try APNsSigningKey(
                file: "\(certificates)/AuthKey.p8", keyID: "MOCKKEYID1", teamID: "MOCKTEAMID"))
        connection.maximumStreams = streams
        var logger = Logger(label: "holdfast.bench")
        logger.logLevel = .warning
        let engine = try PushEngine(
            journal: scratch.journal, routes: [Route(connector: try APNsConnector(connection))], logger: logger)
        var configuration = GatewayConfiguration()
        let identity = ClientCertificate.pem(
            certificates: "\(certificates)/server.pem", key: "\(certificates)/server.key")
        configuration.http2 = HTTP2IngressConfiguration(
            listen: ListenAddress(host: "127.0.0.1", port: 0), tls: ServerTLS(identity: identity))
        configuration.http2?.streams = streams
        configuration.http2?.answerWait = answerWait
        let gateway = try await Gateway(configuration, engine: engine, logger: logger)
        guard let port = gateway.addresses["http2"]?.port else { throw BenchFailure("the gateway does not listen") }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            group.addTask { try await gateway.run() }
            let result = try await body(engine, port)
            group.cancelAll()
            try await group.waitForAll()
            return result
        }
    }
}
