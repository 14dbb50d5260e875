internal import NIOCore
internal import NIOTLS

/// On a listener whose handshake demands a certificate, whoever has come through it has proven who it is.
final class CertificateProof: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let guests: GuestList

    init(_ guests: GuestList) { self.guests = guests }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { guests.proved(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }
}
