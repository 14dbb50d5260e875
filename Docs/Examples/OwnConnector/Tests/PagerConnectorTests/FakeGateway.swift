import Foundation
import Holdfast
import HoldfastTesting
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import PagerConnector

/// A gateway of the protocol that does as it is told: what the conformance suite asks of a connector's author.
final class FakeGateway: ScriptedService {
    private struct State {
        var order = ServiceOrder.accept
        var open: [ObjectIdentifier: any Channel] = [:]
        var taken: [String] = []
        var unknownPagers: Set<String> = []
    }

    let connector: any Connector
    private let listener: any Channel
    private let state: NIOLockedValueBox<State>

    /// The pages that it has taken: the pager and the message.
    var taken: [String] { state.withLockedValue(\.taken) }

    init(unknownPagers: Set<String> = []) async throws {
        let state = NIOLockedValueBox(State(unknownPagers: unknownPagers))
        self.state = state
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Caller(state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        connector = PagerConnector(
            host: "127.0.0.1", port: listener.localAddress?.port ?? 0, replyTimeout: .seconds(20))
    }

    deinit { listener.close(promise: nil) }

    func follow(_ order: ServiceOrder) -> Bool {
        let ending = state.withLockedValue { state in
            if order != .close { state.order = order }
            return order == .close ? Array(state.open.values) : []
        }
        for channel in ending { channel.close(promise: nil) }
        return true
    }

    /// One connection of a sender.
    private final class Caller: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let state: NIOLockedValueBox<State>
        private var received = ByteBuffer()
        private var page = ""

        init(_ state: NIOLockedValueBox<State>) { self.state = state }

        func channelActive(context: ChannelHandlerContext) {
            let channel = context.channel
            let isTurnedAway = state.withLockedValue { state in
                state.open[ObjectIdentifier(channel)] = channel
                return state.order == .turnAway
            }
            say(isTurnedAway ? "421 Gateway Service Unavailable" : "220 SNPP Gateway Ready", context)
            if isTurnedAway { context.close(promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            _ = state.withLockedValue { $0.open.removeValue(forKey: ObjectIdentifier(context.channel)) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            received.writeBuffer(&bytes)
            while let end = received.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                let line = received.readString(length: end - received.readerIndex + 1) ?? ""
                answer(line.trimmingCharacters(in: .newlines), context)
            }
        }

        private func answer(_ line: String, _ context: ChannelHandlerContext) {
            let reply: String? = state.withLockedValue { state in
                let argument = String(line.dropFirst(5))
                switch (line.prefix(4), state.order) {
                case (_, .staySilent): return nil
                case ("QUIT", _): return "221 OK, Goodbye"
                case ("RESE", _): return "250 RESET OK"
                case ("PAGE", .refuse): return "550 Error, Invalid Pager ID"
                case ("PAGE", _) where state.unknownPagers.contains(argument): return "550 Error, Invalid Pager ID"
                case ("PAGE", _):
                    page = argument
                    return "250 Pager ID Accepted"
                case ("MESS", _):
                    page += ": " + argument
                    return "250 Message OK"
                case ("SEND", _):
                    state.taken.append(page)
                    return "250 Message Sent Successfully"
                default: return "500 Command Not Implemented"
                }
            }
            if let reply { say(reply, context) }
        }

        private func say(_ line: String, _ context: ChannelHandlerContext) {
            context.channel.writeAndFlush(ByteBuffer(string: line + "\r\n"), promise: nil)
        }
    }
}
