internal import Holdfast
internal import UnixSignals

/// The signal that ended a command.
struct Interruption: Error {
    /// As shells tell it: 128 and the signal's number.
    let exitCode: Int32

    init(_ signal: UnixSignal) { exitCode = 128 + signal.rawValue }
}

/// Commands that tidy up when a signal ends them.
enum EndingSignals {
    /// Runs `body` until it ends, or a signal comes: then it is cancelled, and its end awaited.
    ///
    /// - Throws: ``Interruption`` after a signal, and what `body` throws.
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
        // A terminal that is closed sends SIGHUP.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        return try await withThrowingTaskGroup(of: R?.self) { tasks in
            tasks.addTask { try await body() }
            tasks.addTask {
                for await signal in signals { throw Interruption(signal) }
                return nil
            }
            defer { tasks.cancelAll() }
            while let result = try await tasks.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// The same for work that says itself when it can be given up: what it makes after a signal counts.
    ///
    /// - Throws: ``Interruption`` when a signal came and it failed, and what `body` throws.
    static func finishing<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let interruption = Monitor<Interruption?>(nil)
        let work = Task { try await body() }
        let watch = Task {
            for await signal in signals {
                interruption.withLock { $0 = Interruption(signal) }
                work.cancel()
            }
        }
        defer { watch.cancel() }
        do { return try await work.value } catch { throw interruption.withLock { $0 } ?? error }
    }
}
