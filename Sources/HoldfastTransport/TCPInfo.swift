internal import HoldfastPlatform
package import NIOCore

/// The kernel's state of a TCP connection: Linux's `TCP_INFO`, whose layout `linux/tcp.h` fixes for ever. (The C
/// library's own `tcp_info` is an old, shorter one.)
package struct TCPInfo: Hashable, Sendable {
    /// Eight bytes each, up to and with `tcpi_bytes_retrans`.
    typealias Words = InlineArray<27, UInt64>

    /// `TCP_ESTABLISHED`: neither side has ended it.
    package let isEstablished: Bool
    /// Bytes that the application has written and the kernel has taken.
    package let bytesTaken: UInt64
    /// The bytes of these that the peer's kernel has acknowledged.
    package let bytesAcknowledged: UInt64
    /// Bytes that have arrived in order, whether or not they were read.
    package let bytesReceived: UInt64
    /// Whether the peer's kernel has taken everything that was written.
    package let isDrained: Bool
    /// `tcpi_bytes_acked` as it stands; 0 on systems that do not count.
    package let rawBytesAcknowledged: UInt64

    init(_ words: Words) {
        // Offsets 0 tcpi_state, 24 tcpi_unacked, 120 tcpi_bytes_acked, 128 tcpi_bytes_received, 144 tcpi_notsent_bytes, 200
        // tcpi_bytes_sent, 208 tcpi_bytes_retrans. Linux on machines that Swift knows is little-endian.
        isEstablished = words[0] & 0xFF == 1
        let notSent = words[18] & 0xFFFF_FFFF
        bytesTaken = words[25] &- words[26] &+ notSent
        isDrained = notSent == 0 && words[3] & 0xFFFF_FFFF == 0
        rawBytesAcknowledged = words[15]
        // The client's SYN counts as one.
        bytesAcknowledged = max(words[15], 1) - 1
        bytesReceived = words[16]
    }

    /// Reads the state. On the channel's event loop.
    ///
    /// - Returns: nil for a channel that is no open socket, and on Darwin, which has no such state.
    package static func read(_ channel: any Channel) -> TCPInfo? {
        guard let socket = channel as? any SocketOptionProvider, let option = KernelNames.tcpInfo else { return nil }
        var info: TCPInfo?
        // On the loop, the future is complete when it is returned.
        socket.unsafeGetSocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: option)).assumeIsolated()
            .whenSuccess {
                (words: Words) in
                info = TCPInfo(words)
            }
        return info
    }
}
