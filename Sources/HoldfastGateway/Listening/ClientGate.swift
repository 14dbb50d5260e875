internal import Holdfast
internal import HoldfastOpenSSL
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Identifies a connection's client by its certificate, and ends the connection when the certificate is not valid any
/// more: when it or an authority's has expired, was revoked or has no up-to-date revocation list, when the table of
/// clients has no item for it, or when the listener now demands a certificate and the client has shown none.
///
/// Lives on one event loop, behind TLS and before the handler of the listener's protocol. Also where no certificate is
/// asked for: a reload may ask for one.
final class ClientGate: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    /// Sent to each connection of a listener when its judge has changed; the handlers behind the gate get it
    /// afterwards.
    struct JudgeChanged: Sendable {}

    private let tls: ServerTLSVault
    private let door: ListenerDoor
    private var judge: ClientJudge?
    private var shown: [Certificate] = []
    /// nil where the client has shown no valid certificate.
    private(set) var client: KnownClient?
    /// Whether the handshake is over.
    private var isUp = false
    private var isEnding = false
    private var timer: Scheduled<Void>?

    /// The greatest delay with which an expiry is noticed.
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

    /// Judges the certificates that the client shows in the handshake, its own first.
    ///
    /// - Returns: whether they are valid.
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

    /// Judges a resumed session, which shows no certificate anew: time may have changed the verdict. A session can be
    /// resumed only under the judge it began with: another judge comes with another context, whose keys open none of
    /// the former's tickets.
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

    /// Ends gracefully, so that no valid request is lost.
    private func end(_ context: ChannelHandlerContext, _ fault: ListenerFault) {
        isEnding = true
        door.figures.fault(fault)
        context.fireUserInboundEventTriggered(Listener.Drain())
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(door.limits().write)) {
            context.channel.cutOff()
        }
    }
}
