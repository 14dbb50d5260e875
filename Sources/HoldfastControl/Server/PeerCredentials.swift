internal import HoldfastPlatform
internal import NIOCore

/// The process at the other end of a socket, and its user, as the kernel noted them at connect (`SO_PEERCRED`, unix(7);
/// `getpeereid` on Darwin).
struct PeerCredentials: Hashable, Sendable {
    let process: UInt32
    let user: UInt32

    static func read(_ channel: any Channel) async throws -> PeerCredentials {
        let peer = try await channel.eventLoop.submit {
            let socket = channel.pipeline.syncOperations
            return try socket.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { descriptor in
                guard let peer = SocketPeer(of: descriptor) else {
                    throw IOError(errnoCode: errno, reason: "the process at the other end of a socket")
                }
                return peer
            }
        }.get()
        guard let peer else { throw ChannelError.operationUnsupported }
        return PeerCredentials(process: peer.process, user: peer.user)
    }

    /// The owner's user, and root.
    func mayOperate(asUser user: UInt32) -> Bool { self.user == user || self.user == 0 }
}
