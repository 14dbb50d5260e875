import HoldfastHTTP2
import NIOCore
import NIOPosix

/// One request of a run.
struct PlannedRequest: Sendable {
    var fields: [(name: String, value: String)]
    var body: [UInt8] = []
}

/// What became of a run's requests.
struct RunOutcome: Sendable {
    var succeeded: [UInt64] = []
    var responses: [UInt64: HTTP2Response] = [:]
    var resets: [UInt64: HTTP2ErrorCode] = [:]
    var goAways: [HTTP2GoAway] = []
    /// Open when the connection ended.
    var open: [UInt64] = []
    var started = 0
    var greatestOpen = 0
    var failure: HTTP2Error?
}

/// Drives a client session over TCP: starts the planned requests as the session lets it, until all are answered or the
/// connection is over.
final class ClientDriver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var session = HTTP2ClientSession()
    private var events = HTTP2ClientEvents()
    private let plan: [PlannedRequest]
    private let authority: String
    private var outcome = RunOutcome()
    private let done: EventLoopPromise<RunOutcome>
    private var isAuthorityIndexed = false
    private var isTableGivenUp = false

    private init(_ plan: [PlannedRequest], authority: String, _ done: EventLoopPromise<RunOutcome>) {
        self.plan = plan
        self.authority = authority
        self.done = done
    }

    /// Runs `plan` on one connection to a server on this machine.
    static func run(_ plan: [PlannedRequest], port: Int, limit: TimeAmount = .seconds(60)) async throws -> RunOutcome {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let done = loop.makePromise(of: RunOutcome.self)
        let timeout = loop.scheduleTask(in: limit) {
            done.fail(TookTooLong(description: "a run of \(plan.count) requests"))
        }
        do {
            let channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            ClientDriver(plan, authority: "localhost:\(port)", done))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            let result = try await done.futureResult.get()
            timeout.cancel()
            channel.close(promise: nil)
            return result
        } catch {
            done.fail(error)
            timeout.cancel()
            throw error
        }
    }

    func channelActive(context: ChannelHandlerContext) { write(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        session.receive(bytes.readableBytesUInt8Span, events: &events)
        outcome.succeeded += events.succeeded
        for event in events.others { take(event) }
        events.removeAll()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        startRequests()
        write(context)
        let answers = outcome.succeeded.count + outcome.responses.count + outcome.resets.count
        if answers == plan.count || session.failure != nil || (session.isFinished && session.openStreams == 0) {
            finish()
        }
    }

    func channelInactive(context: ChannelHandlerContext) { finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func take(_ event: HTTP2ClientEvents.Event) {
        switch event {
        case .response(let tag, let response): outcome.responses[tag] = response
        case .reset(let tag, let code, _, _): outcome.resets[tag] = code
        case .goAway(let goAway): outcome.goAways.append(goAway)
        case .connectionError(let error): outcome.failure = error
        case .settingsChanged, .pong: break
        }
    }

    private func startRequests() {
        guard session.hasPeerSettings else { return }
        while outcome.started < plan.count, session.availableStreams > 0 {
            let request = plan[outcome.started]
            let result = session.startRequest(
                tag: UInt64(outcome.started), headerBlock: headerBlock(request), body: request.body,
                bodyRange: request.body.indices)
            guard case .started = result else { break }
            outcome.started += 1
        }
        outcome.greatestOpen = max(outcome.greatestOpen, session.openStreams)
    }

    /// `:authority` goes into the peer's dynamic table with the first request, where it allows one.
    private func headerBlock(_ request: PlannedRequest) -> [UInt8] {
        var block: [UInt8] = []
        let usesTable = session.peerHeaderTableSize >= 4096
        if !usesTable, !isTableGivenUp {
            // The peer waits for this once its SETTINGS have made the table smaller (RFC 7541 §4.2).
            HPACKWriter.appendSizeUpdate(0, to: &block)
            isTableGivenUp = true
        }
        if isAuthorityIndexed {
            HPACKWriter.appendIndexed(HPACKWriter.firstDynamicIndex, to: &block)
        } else {
            HPACKWriter.appendLiteral(
                nameIndex: HPACKStaticIndex.authority, value: authority.utf8,
                indexing: usesTable ? .incremental : .without, to: &block)
            isAuthorityIndexed = usesTable
        }
        HPACKWriter.appendIndexed(HPACKStaticIndex.schemeHTTP, to: &block)
        for (name, value) in request.fields {
            HPACKWriter.appendLiteral(name: name.utf8, value: value.utf8, indexing: .without, to: &block)
        }
        return block
    }

    private func write(_ context: ChannelHandlerContext) {
        guard session.hasOutput else { return }
        var buffer = context.channel.allocator.buffer(capacity: session.output.count)
        session.drainOutput(into: &buffer)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    private func finish() {
        outcome.open = session.openTags
        outcome.failure = session.failure
        done.succeed(outcome)
    }
}

/// A server that was started elsewhere: is somebody listening?
func isListening(_ port: Int) async -> Bool {
    do {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get().close().get()
        return true
    } catch {
        return false
    }
}

/// A port that was free a moment ago, for servers that cannot let the system choose.
func freePort() async throws -> Int {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1).bind(host: "127.0.0.1", port: 0).get()
    let port = channel.localAddress?.port ?? 0
    try await channel.close().get()
    return port
}
