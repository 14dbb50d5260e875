import Foundation
import Holdfast
import HoldfastAPNs
import HoldfastJournal
import Logging
import Trials

/// One fault, one guarantee: a real engine, journal and connector against a service that misbehaves, over TLS.
struct Trial: TableTrial {
    let fault: Fault
    let guarantee: Guarantee
    let options: FaultOptions

    var name: String { "\(fault.name), \(guarantee.words)" }
    var what: String { fault.what }

    /// The trial did not come to its end.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    func run() async throws -> TrialResult {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let service = try await fault.start(options.count)
        do {
            let result = try await deliver(to: service, folder)
            try await service.stop()
            return result
        } catch {
            try await service.stop()
            throw error
        }
    }

    private func deliver(to service: any FaultyService, _ folder: String) async throws -> TrialResult {
        var journalOptions = LMDBJournal.Options()
        // What the kernel has survives this process, and nothing here outlives the machine.
        journalOptions.durability = .process
        let journal = try LMDBJournal(directory: folder, options: journalOptions)
        defer { journal.close() }
        let engine = try PushEngine(
            journal: journal,
            routes: [Route(connector: try connector(service), connections: 2, scaling: Self.twoAtOnce)],
            configuration: engineConfiguration(), logger: Logger(label: "faults") { _ in logHandler() })
        let tally = OutcomeTally(count: options.count)
        let start = ContinuousClock.now
        var refusals: [String] = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            group.addTask {
                for try await batch in engine.outcomes {
                    tally.add(batch.outcomes)
                    try await batch.taken()
                }
            }
            do {
                refusals = await submit(to: engine)
                try await wait(engine) { tally.met == options.count }
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        // What came after the last look.
        tally.add(try journal.outcomes(after: .none, limit: options.count))
        return TrialResult(
            trial: self, record: try await service.record(), tally: tally.read(), status: engine.status(),
            refusals: refusals, time: ContinuousClock.now - start)
    }

    /// - Returns: what the submitter was told beside a receipt.
    private func submit(to engine: PushEngine) async -> [String] {
        var refusals: [String] = []
        for start in stride(from: 0, to: options.count, by: 5000) {
            let chunk = (start..<min(start + 5000, options.count)).compactMap { Sample.notification($0, guarantee) }
            for receipt in await engine.producer.submit(chunk) {
                do { _ = try receipt.get() } catch { refusals.append("\(error)") }
            }
        }
        return refusals
    }

    /// Waits for the end, and plays the operator who resumes what the service's word has stopped.
    private func wait(_ engine: PushEngine, until condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + options.limit
        while !condition() {
            let status = engine.status()
            guard ContinuousClock.now < deadline else {
                throw Failed(
                    description: "waited for \(options.limit) in vain: \(status.settled) settled, "
                        + "\(status.inFlight) in flight, \(status.unconfirmed) unconfirmed, \(status.connections), "
                        + "\(status.lanes.compactMap(\.stoppedBecause)) \(status.holding)")
            }
            for lane in status.lanes where lane.stoppedBecause != nil {
                guard fault.stopsLane else {
                    throw Failed(description: "a lane was stopped: \(lane.stoppedBecause ?? "")")
                }
                try await engine.desk.resume(lane.key)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func connector(_ service: any FaultyService) throws -> APNsConnector {
        var configuration = APNsConnector.Configuration(
            endpoint: try APNsEndpoint(service.endpoint), trust: .file(service.trustedCertificateFile),
            signingKey: service.signingKey)
        // The bounds that a trial would otherwise wait for; not so near that a busy machine is taken for a silent service.
        configuration.sendDeadline = .seconds(8)
        configuration.connectDeadline = .seconds(4)
        configuration.pingAfter = .seconds(2)
        configuration.pingDeadline = .seconds(4)
        return try APNsConnector(configuration)
    }

    /// From the start, whatever waits.
    private static let twoAtOnce: ConnectionScaling = {
        var scaling = ConnectionScaling()
        scaling.minimum = 2
        return scaling
    }()

    private func engineConfiguration() -> EngineConfiguration {
        var configuration = EngineConfiguration()
        // Some faults end a connection after a few requests: at one in ten seconds they would take hours.
        configuration.reconnectInterval = .zero
        configuration.reconnectMinimum = .milliseconds(10)
        configuration.reconnectMaximum = .milliseconds(100)
        // A storm ends after so many requests, of which a throttled route makes one a pause.
        configuration.throttle.minimumPause = .milliseconds(20)
        configuration.throttle.maximumPause = .milliseconds(200)
        configuration.retry.minimum = .milliseconds(20)
        configuration.retry.maximum = .seconds(2)
        configuration.retry.greatestDoublings = 3
        configuration.park = .milliseconds(200)
        configuration.keepsOutcomes = true
        return configuration
    }

    private func logHandler() -> any LogHandler {
        guard options.isVerbose else { return SwiftLogNoOpLogHandler() }
        var handler = StreamLogHandler.standardError(label: name)
        handler.logLevel = .debug
        return handler
    }
}

extension Guarantee {
    var words: String { self == .atLeastOnce ? "at least once" : "at most once" }
}
