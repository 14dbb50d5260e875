internal import Holdfast
package import NIOCore

/// Notices at once that a client has closed its side of the connection, or is gone. Nothing is waited for on its behalf then.
package final class ClientWatch: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    package typealias InboundIn = NIOAny

    private struct State: Sendable {
        var isGone = false
        /// Ends the waiting for the answer in the making.
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Monitor(State())

    package init() {}

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { clientIsGone() }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        clientIsGone()
        context.fireChannelInactive()
    }

    /// Does work for a request. Its task is cancelled when the client closes its side.
    ///
    /// - Parameter channel: the client's, with a watch in its pipeline. Without one the client is gone.
    package static func untilClosed<R: Sendable>(
        _ channel: any Channel, _ work: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        let task = Task { try await work() }
        do {
            try await channel.pipeline.handler(type: ClientWatch.self).get().cancel { task.cancel() }
        } catch {
            task.cancel()
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func cancel(_ cancel: @escaping @Sendable () -> Void) {
        let isGone = state.withLock { state in
            state.cancel = cancel
            return state.isGone
        }
        if isGone { cancel() }
    }

    private func clientIsGone() {
        let cancel = state.withLock { state in
            state.isGone = true
            return state.cancel
        }
        cancel?()
    }
}
