internal import Holdfast
internal import HoldfastOpenSSL
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Knows who a connection's client is by the certificate that it has shown, and ends the connection when that is good no
/// more: when it or an authority's has expired, was revoked or has no revocation list that is up to date, or when it is of
/// nobody who may submit; or when the listener has come to demand a certificate, and it has shown none.
///
/// Lives on one event loop, behind TLS and before whoever speaks the listener's protocol. Also where no certificate is asked
/// for: a reload may ask for one.
final class ClientGate: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    /// Told to each connection of a listener when its judge is another one; what comes behind the gate is told when that is
    /// done.
    struct JudgeChanged: Sendable {}

    private let tls: ServerTLSVault
    private let door: ListenerDoor
    private var judge: ClientJudge?
    private var shown: [Certificate] = []
    /// Nil where it has shown no certificate, or none that is good.
    private(set) var client: KnownClient?
    /// Whether the handshake is over.
    private var isUp = false
    private var isEnding = false
    private var timer: Scheduled<Void>?

    /// How late the end of a certificate or a list may be noticed.
    private static let slack = TimeAmount.seconds(1)
    /// The farthest that a timer is set.
    private static let farthest: Int64 = 86_400

    /// - Parameter judge: whose word holds for the handshake, and for sessions that it resumes; nil where no certificate is
    ///   asked for.
    init(_ tls: ServerTLSVault, _ judge: ClientJudge?, _ door: ListenerDoor) {
        self.tls = tls
        self.door = door
        self.judge = judge
    }

    /// The client of the connection; nil where it has shown no certificate that is good, or the listener asks for none.
    static func client(in pipeline: ChannelPipeline) -> KnownClient? {
        do { return try pipeline.syncOperations.handler(type: ClientGate.self).client } catch { return nil }
    }

    /// In the handshake: the client shows these, its own first.
    ///
    /// - Returns: whether that is good.
    func admits(_ chain: [NIOSSLCertificate], peer: SocketAddress?) -> Bool {
        shown = chain.prefix(Certificate.greatestChain).compactMap(Self.read)
        return look(peer)
    }

    private static func read(_ certificate: NIOSSLCertificate) -> Certificate? {
        guard let bytes = try? certificate.toDERBytes() else { return nil }
        return try? Certificate(der: bytes, from: "the client's certificate")
    }

    private func look(_ peer: SocketAddress?, isResumed: Bool = false) -> Bool {
        client = nil
        guard let judge else { return false }
        do throws(ClientJudge.Refused) {
            let known = try judge.judge(shown, isResumed: isResumed)
            client = known
            shown = known.chain
            return true
        } catch {
            door.log(.refusedCertificates, error.words, peer: peer)
            return false
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            guard isOpen(context) else { return context.close(promise: nil) }
            isUp = true
            if client != nil { door.guests.proved(context.channel) }
            watch(context)
        case is JudgeChanged:
            judge = tls.judge
            lookAgain(context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    /// A session that is resumed shows nothing anew, and time may have changed what holds for its client. It can be resumed
    /// only where it began, which is while the same judge decides: another one comes with another context, whose keys open
    /// none of the former's tickets.
    private func isOpen(_ context: ChannelHandlerContext) -> Bool {
        guard client == nil else { return true }
        do {
            guard let own = try context.pipeline.syncOperations.nioSSL_peerCertificate() else {
                // The handshake may have begun when none was demanded.
                guard tls.settings.requiresClientCertificate else { return true }
                door.figures.fault(.unproven)
                return false
            }
            shown = Self.read(own).map { [$0] } ?? []
        } catch {
            return false
        }
        return look(context.channel.remoteAddress, isResumed: true)
    }

    // MARK: Afterwards

    private func lookAgain(_ context: ChannelHandlerContext) {
        guard !isEnding else { return }
        if client != nil {
            guard look(context.channel.remoteAddress) else { return end(context, .revoked) }
            watch(context)
        } else if isUp, tls.settings.requiresClientCertificate {
            end(context, .unproven)
        }
    }

    private func watch(_ context: ChannelHandlerContext) {
        timer?.cancel()
        guard let client else { return }
        let left = client.goodUntil - EngineClock.system.wall().seconds
        let pause = TimeAmount.seconds(min(max(left, 0), Self.farthest)) + Self.slack
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: pause) { self.lookAgain(context) }
    }

    /// In order, so that nothing is lost which the client was right to send.
    private func end(_ context: ChannelHandlerContext, _ fault: ListenerFault) {
        isEnding = true
        door.figures.fault(fault)
        context.fireUserInboundEventTriggered(Listener.Drain())
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(door.limits().write)) {
            context.channel.cutOff()
        }
    }
}
