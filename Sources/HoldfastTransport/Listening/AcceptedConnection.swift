package import NIOCore
internal import Synchronization

/// A connection that a listener has accepted and that nobody serves yet.
///
/// A listener that ends drops the connections that wait for their turn. A `NIOAsyncChannel` must not be dropped: its writer
/// ends the process when nobody has finished it. This closes the connection instead. Until then its handlers are at work: a
/// client that goes while it waits gives its descriptor back.
package final class AcceptedConnection<Inbound: Sendable, Outbound: Sendable>: Sendable {
    private let connection: NIOAsyncChannel<Inbound, Outbound>
    private let isTaken = Atomic(false)

    package init(_ connection: NIOAsyncChannel<Inbound, Outbound>) { self.connection = connection }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        Task { [connection] in
            // It fails where the client has gone, and has finished all the same.
            do { try await connection.executeThenClose { _, _ in } } catch {}
        }
    }

    package var channel: any Channel { connection.channel }

    /// The caller serves it, and finishes it, from now on.
    package func take() -> NIOAsyncChannel<Inbound, Outbound> {
        isTaken.store(true, ordering: .relaxed)
        return connection
    }
}
