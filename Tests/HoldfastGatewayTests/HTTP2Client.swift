import Foundation
import NIOCore
import NIOPosix
import NIOSSL

@testable import Holdfast
@testable import HoldfastHTTP2

/// What a client was told.
struct ClientAnswer: Sendable, Equatable {
    var status: Int
    var headers: [String: String]
    var body: String

    var id: String? { headers["apns-id"] }

    /// The body's `reason`.
    var reason: String? {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?["reason"] as? String
    }

    /// The body's `timestamp`.
    var timestamp: Int64? {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?["timestamp"] as? Int64
    }
}

/// How a request ended that got no answer.
enum ClientFailure: Error, Equatable {
    case reset(UInt32)
    /// The connection ended, or the server said that it never looked at the request.
    case closed
    case neverProcessed
}

/// A sender's end of one connection, which behaves; ``RawClient`` does not.
final class HTTP2Client: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<ClientHandler>

    private init(_ channel: any Channel, _ handler: NIOLoopBound<ClientHandler>) {
        self.channel = channel
        self.handler = handler
    }

    /// - Parameter tls: nil for cleartext.
    static func connect(port: Int, tls: TLSConfiguration? = nil) async throws -> HTTP2Client {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = ClientHandler()
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: context, serverHostname: nil))
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                    return HTTP2Client(channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
                }
            }
    }

    /// Sends one request and waits for its answer.
    func send(_ headers: [(String, String)], body: [UInt8] = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)) async throws
        -> ClientAnswer
    {
        try await sendAll([(headers, body)])[0].get()
    }

    /// Sends requests in one write and waits for all answers.
    func sendAll(_ requests: [(headers: [(String, String)], body: [UInt8])]) async throws
        -> [Result<ClientAnswer, any Error>]
    {
        let handler = handler
        let futures = try await channel.eventLoop.submit {
            let futures = requests.map { handler.value.start($0.headers, $0.body) }
            handler.value.flush()
            return futures
        }.get()
        var answers: [Result<ClientAnswer, any Error>] = []
        for future in futures {
            do { answers.append(.success(try await future.get())) } catch { answers.append(.failure(error)) }
        }
        return answers
    }

    /// What the server has said of the connection's end, if it has.
    var goAways: [HTTP2GoAway] {
        get async throws {
            let handler = handler
            return try await channel.eventLoop.submit { handler.value.goAways }.get()
        }
    }

    /// What the server allows at a time.
    var streamLimit: Int? {
        get async throws {
            let handler = handler
            return try await channel.eventLoop.submit { handler.value.streamLimit }.get()
        }
    }

    func close() async throws { try await channel.close().get() }

    var isClosed: Bool { !channel.isActive }

    /// Waits until the server has closed.
    func untilClosed() async throws { try await channel.closeFuture.get() }
}

private final class ClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var session = HTTP2ClientSession(limits: ClientHandler.limits, decodesSuccesses: true)
    private var events = HTTP2ClientEvents()
    private var promises: [UInt64: EventLoopPromise<ClientAnswer>] = [:]
    private var next: UInt64 = 0
    private var context: ChannelHandlerContext?
    var goAways: [HTTP2GoAway] = []
    var streamLimit: Int?

    private static var limits: HTTP2Limits {
        var limits = HTTP2Limits.client
        limits.streamsBeforeSettings = 1000
        return limits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        flush()
    }

    func channelActive(context: ChannelHandlerContext) {
        flush()
        context.fireChannelActive()
    }

    func start(_ headers: [(String, String)], _ body: [UInt8]) -> EventLoopFuture<ClientAnswer> {
        let promise = context!.eventLoop.makePromise(of: ClientAnswer.self)
        var block: [UInt8] = []
        for (name, value) in headers {
            HPACKWriter.appendLiteral(name: name.utf8, value: value.utf8, indexing: .without, to: &block)
        }
        guard context?.channel.isActive == true else {
            // Nobody would ever say so again.
            promise.fail(ClientFailure.closed)
            return promise.futureResult
        }
        next += 1
        guard
            case .started = session.startRequest(tag: next, headerBlock: block, body: body, bodyRange: 0..<body.count)
        else {
            promise.fail(ClientFailure.neverProcessed)
            return promise.futureResult
        }
        promises[next] = promise
        return promise.futureResult
    }

    func flush() {
        guard let context, context.channel.isActive, session.hasOutput else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: session.takeOutput())), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        session.receive(bytes.readableBytesUInt8Span, events: &events)
        for event in events.others { take(event) }
        events.removeAll()
        flush()
    }

    private func take(_ event: HTTP2ClientEvents.Event) {
        switch event {
        case .response(let tag, let response):
            var headers: [String: String] = [:]
            for field in response.headers { headers[field.name] = field.value }
            promises.removeValue(forKey: tag)?.succeed(
                ClientAnswer(
                    status: response.status, headers: headers, body: String(decoding: response.body, as: UTF8.self)))
        case .reset(let tag, let code, _, _):
            promises.removeValue(forKey: tag)?.fail(ClientFailure.reset(code.rawValue))
        case .goAway(let goAway):
            goAways.append(goAway)
            for tag in goAway.neverProcessed { promises.removeValue(forKey: tag)?.fail(ClientFailure.neverProcessed) }
        case .settingsChanged(let count, _):
            streamLimit = count
        case .pong, .connectionError:
            break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        for promise in promises.values { promise.fail(ClientFailure.closed) }
        promises = [:]
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
