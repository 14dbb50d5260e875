/// Why a connection was ended, or was not let in, for what its client did or did not do: the same words on each listener.
enum ListenerFault: String, Sendable, CaseIterable {
    /// As many as the listener may have are open.
    case connections
    /// As many of them are open as one address may have.
    case address
    /// As many are open as the process may have, beside what is kept for delivery.
    case descriptors
    /// It does not speak TLS, breaks off, or shows a certificate that nobody has signed for us.
    case tls
    /// It wants another protocol.
    case alpn
    /// It does not speak the listener's protocol.
    case `protocol`
    /// It ended in the middle of a notification.
    case incomplete
    /// It took too long to speak it at all.
    case handshake
    /// It said nothing for too long.
    case idle
    /// It has shown no credentials for too long, or when others wanted its place.
    case unproven
    /// Its certificate is not good any more.
    case revoked
    /// It did not take what it was owed.
    case write
    /// A request that does not end.
    case slow
    /// More bytes of requests that have begun than is its share.
    case memory
    /// Nothing says for which topic it is.
    case topic
}
