internal import Holdfast
internal import HoldfastLegacyAPNs
internal import HoldfastTransport
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Drives one ``BinaryServerSession`` on its event loop: passes requests to the journal, one batch after the other, and
/// the one answer back.
final class BinaryServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        /// Speaking TLS.
        case opening
        case serving
        /// The last answer is on its way, our side closed behind it; arriving bytes are thrown away.
        case lingering
        /// The connection is gone; the requests read are still put on disk.
        case gone
        case finished
    }

    /// The interval at which a full journal is asked again.
    private static let retryPause = TimeAmount.milliseconds(250)

    /// The time a client has to close its side when the whole listener ends: many look for an answer only with their
    /// next write, and until then it waits in their kernel.
    private static let drainLinger = Duration.seconds(1)

    let service: BinaryService
    let loop: any EventLoop
    private let limits: ListenerLimits
    var session: BinaryServerSession
    private var client: KnownClient?
    private var topic: String?
    /// The name that the client asked TLS for.
    private var serverName: String?
    private(set) var phase: Phase
    private var context: ChannelHandlerContext?
    private var isPumping = false
    private var isDraining = false
    /// Whether a read was asked for while none was wanted.
    private var owesRead = false
    /// The next look for room in the journal, or under the rate.
    private var resumption: Scheduled<Void>?
    /// The one timer for everything that a client may be slow at.
    private var timer: Scheduled<Void>?
    private var deadline: NIODeadline
    /// Present while the connection lingers.
    private var lastWord: LastWord?
    /// Brings the ends of notifications from the engine.
    var mailbox: LoopMailbox<News>?
    /// The next look at errors that wait for the ends of earlier notifications.
    var errorTimer: Scheduled<Void>?

    init(service: BinaryService, channel: any Channel, isCleartext: Bool) {
        let settings = service.settings
        self.service = service
        loop = channel.eventLoop
        limits = settings.limits
        topic = settings.topic
        session = Self.session(service, settings, topic: settings.topic, host: nil, sender: Self.sender(nil, channel))
        phase = isCleartext ? .serving : .opening
        deadline = .now() + TimeAmount(isCleartext ? limits.idle : limits.handshake)
        service.unfinished.begin()
    }

    // MARK: The channel's events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        watch(for: phase == .opening ? limits.handshake : limits.idle)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let name as ServerName: serverName = name.host
        case TLSUserEvent.handshakeCompleted: opened(context)
        case is ClientGate.JudgeChanged: lookAtClient(context)
        case ChannelEvent.inputClosed:
            session.inputEnded()
            pump()
        case is Listener.Drain:
            isDraining = true
            if phase == .opening { return end() }
            if phase == .lingering {
                lastWord?.hasten(at: .now(), limit: lingerLimit)
                return lookAtLastWord()
            }
            session.drain()
            pump()
        case is Listener.CutOff:
            if phase == .opening { finish() }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func read(context: ChannelHandlerContext) {
        if phase == .opening || session.wantsInput && resumption == nil { context.read() } else { owesRead = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let lastWord {
            if lastWord.isIgnored(at: .now()) { context.channel.reset() }
            return
        }
        let bytes = unwrapInboundIn(data)
        session.receive(bytes.readableBytesUInt8Span)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        pump()
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Some clients close without TLS's close_notify; their requests count all the same.
        if case NIOSSLError.uncleanShutdown = error { return }
        if phase == .opening { service.figures.fault(.tls) }
        service.logger.debug("a client's connection failed: \(error)", metadata: metadata)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        if phase == .lingering || phase == .opening { finish() }
        if phase == .serving { phase = .gone }
        session.disconnected()
        pump()
        context.fireChannelInactive()
    }

    private func opened(_ context: ChannelHandlerContext) {
        guard phase == .opening else { return }
        phase = .serving
        let settings = service.settings
        client = ClientGate.client(in: context.pipeline)
        topic = CertifiedClients.topic(of: client, configured: settings.topic)
        session = Self.session(
            service, settings, topic: topic, host: serverName, sender: Self.sender(client, context.channel))
        watch(for: limits.idle)
    }

    /// The table of clients may have changed: the connection keeps its topic, or it ends.
    private func lookAtClient(_ context: ChannelHandlerContext) {
        guard phase == .serving, client != nil else { return }
        client = ClientGate.client(in: context.pipeline)
        guard let client, CertifiedClients.topic(of: client, configured: topic) != topic else { return }
        session.drain()
        pump()
    }

    private static func session(
        _ service: BinaryService, _ settings: BinaryIngressConfiguration, topic: String?, host: String?, sender: [UInt8]
    ) -> BinaryServerSession {
        var errors: BinaryServerSession.ErrorTerms?
        if settings.tellsErrors, service.outcomes() != nil {
            errors = .init(sender: sender, repeats: service.repeats, patience: TimeAmount(settings.errorWait))
        }
        // A name that is configured goes before the listener's own environment, and that before Apple's names.
        let named = HostEnvironments(settings.hosts).environment(of: host)
        return BinaryServerSession(
            topic: topic, unstoredLifetime: settings.unstoredLifetime, limit: settings.uncommitted,
            patience: TimeAmount(settings.roomLimit), environment: named.stated ?? settings.environment,
            preferredEnvironment: named.preferred, errors: errors)
    }

    // MARK: Performing the session's steps

    func pump() {
        guard phase == .serving || phase == .gone, !isPumping else { return }
        isPumping = true
        repeat {
            read()
            while let step = session.next(now: .now()) { perform(step) }
        } while session.isReadable && resumption == nil
        isPumping = false
        follow()
        service.figures.add(session.takeTally())
        if session.isWaitingForJournal, resumption == nil { resume(in: Self.retryPause) }
        if owesRead, session.wantsInput, resumption == nil, let context {
            owesRead = false
            context.read()
        }
    }

    private func read() {
        guard resumption == nil else { return }
        let rates = [service.rate, client?.rate].compactMap(\.self)
        let allowances = rates.map { $0.allowance() }
        let pause = allowances.compactMap(\.pause).max()
        let allowance = allowances.map(\.count).min() ?? .max
        let count = session.read(atMost: allowance, now: service.producer.clock.wall())
        if count > 0 {
            for rate in rates { rate.took(count) }
            // Only requests count as activity: bytes that never make a notification are silence.
            deadline = .now() + TimeAmount(limits.idle)
        }
        if let pause { resume(in: TimeAmount(pause)) }
    }

    private func resume(in pause: TimeAmount) {
        resumption = loop.assumeIsolated().scheduleTask(in: pause) {
            self.resumption = nil
            self.session.retry(now: .now())
            self.pump()
        }
    }

    private func perform(_ step: BinaryServerSession.Step) {
        switch step {
        case .submit(let notifications):
            let handler = NIOLoopBound(self, eventLoop: loop)
            // Before they are submitted: one may end before this loop knows its UID.
            let watch = session.tellsErrors ? OutcomeWatch(service.outcomes()) : nil
            service.producer.submitUpToRefusal(notifications) { [loop] receipts in
                loop.execute {
                    handler.value.committed(receipts, watch)
                    handler.value.pump()
                }
            }
        case .answer(let response): part(saying: response)
        case .close: part(saying: nil)
        }
    }

    private func part(saying response: ErrorResponse?) {
        guard phase == .serving, let context else { return finish() }
        phase = .lingering
        // Before the answer: whoever has read it finds it in the figures.
        service.figures.add(session.takeTally())
        let now = NIODeadline.now()
        service.repeats.remember(
            session.takeDisowned(), until: now + TimeAmount(service.settings.errorMemory), now: now)
        forgetErrors()
        // Nothing is read for the journal any more; everything is thrown away.
        resumption?.cancel()
        resumption = nil
        lastWord = LastWord(at: .now(), limit: lingerLimit)
        if let response {
            service.logger.debug("answered \(response.status.word)", metadata: metadata)
            var bytes: [UInt8] = []
            response.append(to: &bytes)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }
        // Our side alone: closing both with bytes unread would make the kernel send a reset, which can overtake the
        // answer.
        context.close(mode: .output).assumeIsolated().whenSuccess {
            self.lastWord?.sent()
            self.lookAtLastWord()
        }
        lookAtLastWord()
        if owesRead { context.read() }
    }

    private var lingerLimit: TimeAmount {
        TimeAmount(isDraining ? min(limits.write, Self.drainLinger) : limits.write)
    }

    private func lookAtLastWord() {
        timer?.cancel()
        guard phase == .lingering, let context, var word = lastWord else { return }
        let isAcknowledged = word.isAwaitingAcknowledgement && TCPInfo.read(context.channel)?.isDrained == true
        let verdict = word.look(isAcknowledged: isAcknowledged, at: .now())
        lastWord = word
        switch verdict {
        case .wait(let until):
            timer = loop.assumeIsolated().scheduleTask(deadline: until) { self.lookAtLastWord() }
        case .close: end()
        }
    }

    private func end() {
        let context = context
        finish()
        context?.channel.cut()
    }

    private func finish() {
        guard phase != .finished else { return }
        phase = .finished
        forgetErrors()
        timer?.cancel()
        resumption?.cancel()
        service.figures.add(session.takeTally())
        service.unfinished.finish()
    }

    // MARK: Slow clients

    private func watch(for limit: Duration) {
        deadline = .now() + TimeAmount(limit)
        timer?.cancel()
        timer = loop.assumeIsolated().scheduleTask(deadline: deadline) { self.look() }
    }

    private func look() {
        guard phase == .opening || phase == .serving else { return }
        guard deadline <= .now() else {
            timer = loop.assumeIsolated().scheduleTask(deadline: deadline) { self.look() }
            return
        }
        guard phase == .serving else {
            service.figures.fault(.handshake)
            return end()
        }
        if session.isOpen { service.figures.fault(.idle) }
        // In the protocol's own words: a client that finds a closed connection with its next write would lose that
        // write.
        watch(for: limits.write)
        session.drain()
        pump()
    }

    private var metadata: Logger.Metadata {
        ["client": "\(context?.channel.remoteAddress.map(String.init(describing:)) ?? "?")"]
    }
}
