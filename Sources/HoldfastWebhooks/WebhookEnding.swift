internal import Holdfast

/// The end of a webhook in two steps: first it stops to wait, later to post.
final class WebhookEnding: Sendable {
    private struct State: Sendable {
        var hasBegun = false
        var isOver = false
        var next = 0
        /// Ended when the end begins.
        var waits: [Int: @Sendable () -> Void] = [:]
        /// Ended when it is over.
        var works: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Monitor(State())

    var hasBegun: Bool { state.withLock(\.hasBegun) }
    var isOver: Bool { state.withLock(\.isOver) }

    /// Ends all waiting now, and all work after `limit`.
    func begin(within limit: Duration) {
        let waits = state.withLock { state -> [@Sendable () -> Void] in
            guard !state.hasBegun else { return [] }
            state.hasBegun = true
            return Array(state.waits.values)
        }
        for cancel in waits { cancel() }
        Task {
            do { try await Task.sleep(for: limit) } catch {}
            let works = state.withLock { state in
                state.isOver = true
                return Array(state.works.values)
            }
            for cancel in works { cancel() }
        }
    }

    /// Runs `body`, cancelled as soon as the end begins.
    func unlessBegun<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await run(in: \.waits, unless: \.hasBegun, body).get()
    }

    /// Runs `body`, cancelled when the end is over.
    func unlessOver<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await run(in: \.works, unless: \.isOver, body).get()
    }

    /// Sleeps until the end begins, at most so long.
    func sleep(_ time: Duration) async {
        do { try await unlessBegun { try await Task.sleep(for: time) } } catch {}
    }

    private func run<Value: Sendable, Failure: Error>(
        in tasks: any WritableKeyPath<State, [Int: @Sendable () -> Void]> & Sendable,
        unless isLate: any KeyPath<State, Bool> & Sendable,
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        let task = Task { () async -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        let (number, isLate) = state.withLock { state in
            state.next += 1
            state[keyPath: tasks][state.next] = { task.cancel() }
            return (state.next, state[keyPath: isLate])
        }
        if isLate { task.cancel() }
        defer { state.withLock { $0[keyPath: tasks][number] = nil } }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
