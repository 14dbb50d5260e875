internal import Glibc
internal import NIOCore

/// The process at the other end of a socket, and its user, as the kernel noted them at connect (`SO_PEERCRED`, unix(7)).
struct PeerCredentials: Hashable, Sendable {
    let process: UInt32
    let user: UInt32

    /// The kernel's `struct ucred`: process, user, group.
    private typealias Words = InlineArray<3, UInt32>

    static func read(_ channel: any Channel) async throws -> PeerCredentials {
        guard let socket = channel as? any SocketOptionProvider else { throw ChannelError.operationUnsupported }
        let words: Words = try await socket.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        ).get()
        return PeerCredentials(process: words[0], user: words[1])
    }

    /// The owner's user, and root.
    func mayOperate(asUser user: UInt32) -> Bool { self.user == user || self.user == 0 }
}
