import HoldfastTesting
import Logging

@testable import Holdfast

/// An engine that waits for nothing long.
func testEngine(
    _ journal: InMemoryJournal, _ connector: any Connector, change: (inout EngineConfiguration) -> Void = { _ in }
) throws -> PushEngine {
    var configuration = EngineConfiguration()
    configuration.retry = RetrySchedule(minimum: .milliseconds(2), maximum: .milliseconds(4), greatestCount: 5)
    configuration.reconnectMinimum = .milliseconds(2)
    configuration.reconnectMaximum = .milliseconds(4)
    configuration.shutdownLimit = .seconds(2)
    configuration.throttle.minimumPause = .milliseconds(2)
    configuration.throttle.maximumPause = .milliseconds(4)
    configuration.throttle.firstBurst = .max
    change(&configuration)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return try PushEngine(
        journal: journal, routes: [Route(connector: connector)], configuration: configuration, logger: logger)
}

/// Runs the engine until it has nothing to do.
func runUntilIdle(_ engine: PushEngine) async throws -> EngineRest {
    try await withThrowingTaskGroup(of: EngineRest?.self) { group in
        group.addTask {
            try await engine.run()
            return nil
        }
        let rest = await engine.untilIdle()
        group.cancelAll()
        while try await group.next() != nil {}
        return rest
    }
}
