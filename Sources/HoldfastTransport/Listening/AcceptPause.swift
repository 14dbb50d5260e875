package import NIOCore

/// Accepts nothing for a while where accepting fails. Without descriptors it fails again at once: a client that waits would
/// cost a core, until somebody goes.
///
/// Not NIO's `AcceptBackoffHandler`: that holds reads back, and a listener whose read has failed goes on with the one that
/// it has.
package final class AcceptPause: ChannelInboundHandler {
    package typealias InboundIn = any Channel

    private static let pause = TimeAmount.seconds(1)

    private let failed: @Sendable (any Error) -> Void

    /// - Parameter failed: told each time why nothing is accepted; must not block.
    package init(failed: @escaping @Sendable (any Error) -> Void) { self.failed = failed }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failed(error)
        accept(false, context)
        let isolated = context.loopBound
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.accept(true, isolated.value) }
    }

    private func accept(_ accepts: Bool, _ context: ChannelHandlerContext) {
        do {
            try context.channel.syncOptions?.setOption(.autoRead, value: accepts)
        } catch {
            // It is closed: nothing is accepted any more.
        }
    }
}
