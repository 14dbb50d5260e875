import Holdfast
import NIOCore
import NIOPosix

/// A socket that writes what it is told to, and keeps what comes.
final class BinaryClient: Sendable {
    private struct State: Sendable {
        var received: [UInt8] = []
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let state: Monitor<State>
        init(_ state: Monitor<State>) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            state.withLock { $0.received += bytes.readableBytesView }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelInactive(context: ChannelHandlerContext) {
            let waiter = state.withLock { state in
                state.hasEnded = true
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }

    private let channel: any Channel
    private let state: Monitor<State>

    init(port: Int) async throws {
        let state = Monitor(State())
        self.state = state
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(state))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    /// - Returns: false when the gateway has ended the connection.
    func send(_ bytes: some Sequence<UInt8>) async -> Bool {
        do {
            try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
            return true
        } catch {
            return false
        }
    }

    func closeOutput() async { do { try await channel.close(mode: .output).get() } catch {} }

    func close() async { do { try await channel.close().get() } catch {} }

    /// Everything that came, once the gateway has ended the connection; nil when it has not in time.
    func untilEnd(limit: Duration) async -> [UInt8]? {
        let timer = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { [channel] in channel.close(promise: nil) }
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiter = continuation }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        timer.cancel()
        return ContinuousClock.now - start < limit ? state.withLock(\.received) : nil
    }
}
