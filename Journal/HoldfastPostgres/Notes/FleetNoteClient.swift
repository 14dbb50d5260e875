internal import Foundation
package import HoldfastPQ
internal import Synchronization

/// Reads and writes notes over a connection of its own, on a thread that may wait. One call at a time.
package final class FleetNoteClient: Sendable {
    private struct Worker {
        let notes: FleetNotes
        let answer: Duration
        var session: ServiceSession

        mutating func call<R>(
            _ body: (FleetNotes, PQConnection, ContinuousClock.Instant) throws(PQError) -> R
        ) throws(PQError) -> R {
            let deadline = ContinuousClock.Instant.now + answer
            do throws(PQError) {
                return try body(notes, session.opened(by: deadline).0, deadline)
            } catch {
                session.close()
                throw error
            }
        }
    }

    private let worker: Mutex<Worker>
    private let interruption: PQInterruption
    private let queue = DispatchQueue(label: "holdfast.notes")

    /// Connects with the first call.
    ///
    /// - Parameter answer: for connecting and one call.
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(
        _ target: PQTarget, _ schema: SchemaName = .standard, answer: Duration = .seconds(5)
    ) throws(PQError) {
        let interruption = try PQInterruption()
        self.interruption = interruption
        worker = Mutex(
            Worker(
                notes: FleetNotes(schema), answer: answer,
                session: ServiceSession(target, schema, name: "holdfast notes", interruption)))
    }

    /// - Returns: nil when there is no note of this name.
    /// - Throws: `PQError`.
    package func note(_ name: String) async throws -> FleetNote? {
        try await call { (notes, connection, deadline) throws(PQError) in
            try notes.note(name, connection, by: deadline)
        }
    }

    /// Writes a note if it is still the one that was seen. A call in doubt may have written it.
    ///
    /// - Returns: the new version; nil when the note has changed.
    /// - Throws: `PQError`.
    package func swap(_ name: String, seen: Int64, _ value: [UInt8]) async throws -> Int64? {
        try await call { (notes, connection, deadline) throws(PQError) in
            try notes.swap(name, seen: seen, value, connection, by: deadline)
        }
    }

    /// Ends a call under way, and takes no more.
    package func close() {
        interruption.interrupt()
        queue.async { [self] in worker.withLock { $0.session.close() } }
    }

    private func call<R: Sendable>(
        _ body: @escaping @Sendable (FleetNotes, PQConnection, ContinuousClock.Instant) throws(PQError) -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result { () throws(PQError) in
                        try worker.withLock { (worker) throws(PQError) in try worker.call(body) }
                    }
                    .mapError { $0 as any Error })
            }
        }
    }
}
