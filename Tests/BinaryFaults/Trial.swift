import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLegacyAPNs
import HoldfastMockAPNs
import HoldfastMocking
import Logging
import Trials

/// One fault, one way of confirming, one number of connections: a real engine, journal and connector against the mock over
/// TLS, in this process.
struct Trial: TableTrial {
    let fault: Fault
    let usesBarrier: Bool
    let connections: Int
    let options: FaultOptions

    var name: String { "\(fault.name), \(usesBarrier ? "barrier" : "quiet"), \(connections)" }
    var what: String { fault.what }

    /// The most that one connection may have unconfirmed.
    var window: Int { fault.hasWideWindow ? options.notifications * 4 : options.window }

    private var setting: Fault.Setting { Fault.Setting(quietPeriod: options.quietPeriod) }

    /// Silence is taken for what it is not here.
    var isFooled: Bool { fault.foolsSilence && !usesBarrier }

    /// The trial did not come to its end.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    func run() async throws -> TrialResult {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = FaultLog()
        let record = ServiceRecord(notifications: options.notifications)
        let server = try await MockBinaryServer.start(serverConfiguration(log, record))
        do {
            let result = try await deliver(to: server, folder, log, record)
            try await server.stop(within: .seconds(1))
            return result
        } catch {
            try await server.stop(within: .seconds(1))
            throw error
        }
    }

    private func serverConfiguration(_ log: FaultLog, _ record: ServiceRecord) -> MockBinaryConfiguration {
        var configuration = MockBinaryConfiguration()
        configuration.rejections = Sample.rejections(of: options.notifications)
        configuration.behavior = fault.behavior(log, setting)
        configuration.receiveBufferByteCount = fault.receiveBuffer
        configuration.observer = { record.add($0) }
        return configuration
    }

    private func deliver(
        to server: MockBinaryServer, _ folder: String, _ log: FaultLog, _ record: ServiceRecord
    ) async throws -> TrialResult {
        var journalOptions = LMDBJournal.Options()
        // What the kernel has survives this process, and nothing here outlives the machine.
        journalOptions.durability = .process
        let journal = try LMDBJournal(directory: folder, options: journalOptions)
        defer { journal.close() }
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: try connector(server), connections: connections)],
            configuration: engineConfiguration(), logger: Logger(label: "faults") { _ in logHandler() })
        let tally = OutcomeTally(notifications: options.notifications)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            group.addTask {
                for try await batch in engine.outcomes {
                    tally.add(batch.outcomes)
                    try await batch.taken()
                }
            }
            do {
                try await submit(to: engine, log, tally)
                try await wait(engine, until: "everything has its outcome") { tally.met == options.notifications }
                if isFooled {
                    try await wait(engine, until: "the late errors are heard, and what they deny is told") {
                        server.counters.responses >= log.count
                            && engine.status().recalled > 0
                    }
                }
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        // What came after the last look.
        tally.add(try journal.outcomes(after: journal.engineCursor, limit: options.notifications).outcomes)
        return TrialResult(
            trial: self, record: record.read(), tally: tally.read(), status: engine.status(), faults: log.count,
            connections: server.counters.connections, time: ContinuousClock.now - start)
    }

    private func submit(to engine: PushEngine, _ log: FaultLog, _ tally: OutcomeTally) async throws {
        let chunk = 5000
        var next = 0
        while next < options.notifications {
            let isPrelude = next < fault.prelude
            let end = min(next + chunk, isPrelude ? fault.prelude : options.notifications)
            for receipt in await engine.producer.submit((next..<end).compactMap(Sample.notification)) {
                _ = try receipt.get()
            }
            next = end
            guard isPrelude, next == fault.prelude else { continue }
            try await wait(engine, until: "the prelude is confirmed") { tally.met == fault.prelude }
            log.preludeIsOver()
        }
    }

    private func wait(_ engine: PushEngine, until what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + options.limit
        while !condition() {
            guard ContinuousClock.now < deadline else {
                let status = engine.status()
                throw Failed(
                    description: "waited for \(options.limit) in vain until \(what): \(status.settled) settled, "
                        + "\(status.inFlight) in flight, \(status.unconfirmed) unconfirmed, \(status.connections), "
                        + "\(status.lanes.compactMap(\.stoppedBecause)) \(status.holding)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func connector(_ server: MockBinaryServer) throws -> LegacyAPNsConnector {
        var configuration = LegacyAPNsConnector.Configuration(
            endpoint: try LegacyAPNsEndpoint("binary+tls://127.0.0.1:\(server.port)"),
            trust: .file(server.certificateAuthorityFile))
        configuration.confirmation = usesBarrier ? .barrier : .quiet(options.quietPeriod)
        return try LegacyAPNsConnector(configuration)
    }

    /// The defaults, but for what a trial asks for and what it cannot wait for.
    private func engineConfiguration() -> EngineConfiguration {
        var configuration = EngineConfiguration()
        // The outcomes are what is looked at.
        configuration.keepsOutcomes = true
        configuration.cumulativeWindow = window
        if !usesBarrier {
            // What silence has confirmed is told after ten minutes, at the next housekeeping. Longer than any error is late.
            configuration.lateErrorPeriod = options.quietPeriod * 3
            configuration.housekeeping = .milliseconds(500)
        }
        return configuration
    }

    private func logHandler() -> any LogHandler {
        guard options.isVerbose else { return SwiftLogNoOpLogHandler() }
        var handler = StreamLogHandler.standardError(label: name)
        handler.logLevel = .debug
        return handler
    }
}
