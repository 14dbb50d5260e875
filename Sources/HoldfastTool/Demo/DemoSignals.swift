internal import UnixSignals

/// The signal that ended a demo.
struct DemoInterruption: Error {
    /// As shells tell it: 128 and the signal's number.
    let exitCode: Int32
}

enum DemoSignals {
    /// Runs `body` until it ends, or a signal comes: then it is cancelled, and its end awaited.
    ///
    /// - Throws: ``DemoInterruption`` after a signal, and what `body` throws.
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
        // A terminal that is closed sends SIGHUP.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        return try await withThrowingTaskGroup(of: R?.self) { tasks in
            tasks.addTask { try await body() }
            tasks.addTask {
                for await signal in signals {
                    throw DemoInterruption(exitCode: signal == .sigint ? 130 : signal == .sighup ? 129 : 143)
                }
                return nil
            }
            defer { tasks.cancelAll() }
            while let result = try await tasks.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }
}
