internal import Glibc
internal import NIOCore
internal import NIOSSL

extension Channel {
    /// Ends the connection below TLS, at once: nobody waits for a goodbye that a client which does not read never gives. What
    /// the kernel has taken still goes out, unless something that the client wrote lies there unread.
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

    /// Ends the connection with a reset, which fails the client's next write. What it has not read may be lost to it.
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
