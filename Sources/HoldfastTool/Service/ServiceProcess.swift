internal import Foundation
internal import HoldfastService
internal import Logging
internal import UnixSignals

/// A service that has a process to itself: signals steer it, and a service manager hears how it does.
struct ServiceProcess: Sendable {
    private let service: ServiceRun
    private let manager: ServiceManager?
    private let logger: Logger

    /// - Parameters:
    ///   - environment: the environment variables with which the process was started.
    ///   - load: the configuration as it is now, with the command's flags over it.
    init(
        _ configuration: HoldfastConfiguration, routes: [ReadyRoute], log: ServiceLog,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        load: @escaping @Sendable () throws -> HoldfastConfiguration
    ) {
        logger = log.logger()
        let manager = ServiceManager(environment, logger: logger)
        self.manager = manager
        var host = ServiceHost { log.logger($0) }
        host.version = ProgramVersion.number
        host.setLevel = { log.leastLevel = $0 }
        host.setFormat = { log.change(to: $0) }
        host.tell = { await manager?.tell(.init($0)) }
        service = ServiceRun(configuration, routes: routes, host: host, sources: .init(load: load))
    }

    /// Hears SIGHUP from the beginning: while the configuration is read, it would end the process otherwise.
    static func hangUps() async -> UnixSignalsSequence { await UnixSignalsSequence(trapping: .sighup) }

    /// Runs until SIGINT, SIGTERM, or an error that an operator must fix.
    ///
    /// - Parameter hangUps: with those that came while the configuration was read.
    func run(_ hangUps: UnixSignalsSequence) async -> ServiceRun.Outcome {
        // From here on a signal is a word to be answered, not an end.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        return await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await handle(signals) }
            tasks.addTask { await handle(hangUps) }
            if let manager { tasks.addTask { await manager.feedWatchdog() } }
            let outcome = await service.run()
            tasks.cancelAll()
            return outcome
        }
    }

    private func handle(_ signals: UnixSignalsSequence) async {
        for await signal in signals {
            switch signal {
            case .sighup:
                service.askForReload()
            default:
                logger.info("\(signal): ending, with what is in hand")
                await service.end()
            }
        }
    }
}
