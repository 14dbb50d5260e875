import Foundation
import HoldfastService
import Logging
import ServiceLifecycle
import UnixSignals

/// Serves senders as `holdfast serve` does, beside the application's own services, and reads the file again when told to.
func servePushes(
    configuration file: String, beside services: [any Service] = [], reloads: AsyncStream<Void>, logger: Logger
) async throws {
    let environment = ProcessInfo.processInfo.environment
    let configuration = try HoldfastConfiguration(file: file, environment: environment)
    let server = try HoldfastServer(configuration: configuration, logger: logger)
    let group = ServiceGroup(
        services: [server] + services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await withThrowingTaskGroup { tasks in
        tasks.addTask {
            for await _ in reloads {
                do {
                    let waiting = try await server.reload(HoldfastConfiguration(file: file, environment: environment))
                    if !waiting.isEmpty { logger.warning("waits for a restart: \(waiting)") }
                } catch {
                    logger.error("everything stays as it was: \(error)")
                }
            }
        }
        try await group.run()
        tasks.cancelAll()
    }
}
