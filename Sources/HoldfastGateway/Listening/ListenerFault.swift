/// The fault of a client for which a connection was ended or not admitted: the same words on each listener.
enum ListenerFault: String, Sendable, CaseIterable {
    /// The listener's limit of connections is reached.
    case connections
    /// The limit of connections from one address is reached.
    case address
    /// The process's limit of connections is reached, beyond the reserve for delivery.
    case descriptors
    /// The client does not speak TLS, breaks off, or shows a certificate that no authority of ours has signed.
    case tls
    /// The client wants another protocol.
    case alpn
    /// The client does not speak the listener's protocol.
    case `protocol`
    /// The connection ended in the middle of a notification.
    case incomplete
    /// The handshake timeout has passed.
    case handshake
    /// The idle timeout has passed.
    case idle
    /// The client has shown no credentials in time, or while others wanted its place.
    case unproven
    /// The client's certificate is not valid any more.
    case revoked
    /// The write timeout has passed.
    case write
    /// A request that does not end.
    case slow
    /// More bytes of requests that have begun than is its share.
    case memory
    /// The connection has no topic.
    case topic
}
