internal import HoldfastPlatform
internal import NIOCore
internal import NIOSSL

extension Channel {
    /// Closes the connection below TLS, at once, without waiting for a close_notify that a stuck client never sends.
    /// Bytes that the kernel has taken still go out, unless bytes of the client lie there unread.
    ///
    /// On the channel's event loop.
    func cut() {
        do {
            try pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self).close(promise: nil)
        } catch {
            // There is no TLS.
            close(promise: nil)
        }
    }

    /// Tells the connection that it ends (``Listener/CutOff``), and ends it.
    ///
    /// On the channel's event loop.
    func cutOff() {
        pipeline.fireUserInboundEventTriggered(Listener.CutOff())
        cut()
    }

    /// Ends the connection with a reset, which fails the client's next write. Bytes that it has not read may be lost.
    ///
    /// On the channel's event loop.
    func reset() {
        if let socket = self as? any SocketOptionProvider {
            // A socket that is closed already has nobody to reset.
            _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        cut()
    }
}
