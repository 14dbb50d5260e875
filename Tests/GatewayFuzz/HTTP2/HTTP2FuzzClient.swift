import Holdfast
import HostileHTTP2
import NIOCore
import NIOPosix

/// A socket that writes what it is told to, and cuts what comes into frames.
final class HTTP2FuzzClient: Sendable {
    struct Heard: Sendable {
        /// The answers: by stream, the first byte of each HEADERS that came.
        var heads: [UInt32: [UInt8]] = [:]
        /// Streams that the gateway has reset.
        var resets: Set<UInt32> = []
        /// The last stream and the code of each GOAWAY.
        var goAways: [(last: UInt32, code: UInt32)] = []
        var hasEnded = false
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let heard: Monitor<Heard>
        private var cutter = FrameCutter(hasPreface: false)

        init(_ heard: Monitor<Heard>) { self.heard = heard }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frames = cutter.frames(Array(unwrapInboundIn(data).readableBytesView))
            heard.withLock { heard in
                for frame in frames {
                    switch frame.kind {
                    case WireFrame.Kind.headers: heard.heads[frame.stream, default: []].append(frame.payload.first ?? 0)
                    case WireFrame.Kind.reset: heard.resets.insert(frame.stream)
                    case WireFrame.Kind.goAway:
                        heard.goAways.append((frame.number(at: 0) ?? 0, frame.number(at: 4) ?? 0))
                    default: break
                    }
                }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelInactive(context: ChannelHandlerContext) { heard.withLock { $0.hasEnded = true } }
    }

    private let channel: any Channel
    private let state: Monitor<Heard>

    init(port: Int) async throws {
        let heard = Monitor(Heard())
        state = heard
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(heard))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    var heard: Heard { state.withLock { $0 } }

    /// - Returns: false when the gateway has ended the connection.
    func send(_ bytes: [UInt8]) async -> Bool {
        do {
            try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
            return true
        } catch {
            return false
        }
    }

    func closeOutput() async { do { try await channel.close(mode: .output).get() } catch {} }

    func close() async { do { try await channel.close().get() } catch {} }

    /// Waits until a condition holds for what was heard.
    ///
    /// - Returns: whether it came to hold in time.
    func wait(atMost limit: Duration, until holds: (Heard) -> Bool) async throws -> Bool {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            if holds(heard) { return true }
            try await Task.sleep(for: .milliseconds(1))
        }
        return holds(heard)
    }
}
