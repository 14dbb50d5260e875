package import NIOCore
internal import Synchronization

/// A connection that a listener has accepted and that nobody has looked at yet. Nothing is read from it until it is opened.
///
/// A listener that ends drops the connections that wait for their turn. A `NIOAsyncChannel` must not be dropped: its writer
/// ends the process when nobody has finished it. This closes the connection instead.
package final class AcceptedConnection: Sendable {
    package let channel: any Channel
    private let isOpened = Atomic(false)

    /// - Parameter channel: one that is not active yet; called on its event loop.
    package init(_ channel: any Channel) throws {
        self.channel = channel
        try channel.syncOptions?.setOption(.autoRead, value: false)
    }

    deinit { if !isOpened.load(ordering: .relaxed) { channel.close(promise: nil) } }

    /// Wraps the connection and begins to read from it.
    ///
    /// - Parameter wrap: called on the event loop. The caller must finish what it makes.
    /// - Throws: what `wrap` throws, or `ChannelError.ioOnClosedChannel` when the connection has ended meanwhile.
    package func open<Wrapped: Sendable>(
        _ wrap: @escaping @Sendable (any Channel) -> EventLoopFuture<Wrapped>
    ) async throws -> Wrapped {
        let wrapped = try await channel.eventLoop.flatSubmit { [channel] () -> EventLoopFuture<Wrapped> in
            // A writer that cannot be added to a pipeline is dropped as well.
            guard channel.isActive else { return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
            return wrap(channel)
        }.get()
        isOpened.store(true, ordering: .relaxed)
        // Fails where the connection has ended meanwhile, which its reader hears of.
        _ = channel.setOption(.autoRead, value: true)
        return wrapped
    }
}
