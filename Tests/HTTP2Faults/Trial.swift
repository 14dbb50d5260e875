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
        tally.add(try journal.outcomes(after: journal.engineCursor, limit: options.count).outcomes)
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

    /// Waits for the end. What the service's word has stopped comes back by itself.
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
            if !fault.stopsLane, let reason = status.lanes.lazy.compactMap(\.stoppedBecause).first {
                throw Failed(description: "a lane was stopped: \(reason)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// With the default deadlines.
    private func connector(_ service: any FaultyService) throws -> APNsConnector {
        try APNsConnector(
            APNsConnector.Configuration(
                endpoint: try APNsEndpoint(service.endpoint), trust: .file(service.trustedCertificateFile),
                signingKey: service.signingKey))
    }

    /// The defaults, but for what the fault says that it cannot wait for.
    private func engineConfiguration() -> EngineConfiguration {
        var configuration = EngineConfiguration()
        // The outcomes are what is looked at.
        configuration.keepsOutcomes = true
        fault.shortening?.apply(&configuration)
        return configuration
    }

    /// From the start, whatever waits: with one alone nothing could go over another.
    private static let twoAtOnce: ConnectionScaling = {
        var scaling = ConnectionScaling()
        scaling.minimum = 2
        return scaling
    }()

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
