internal import HoldfastTransport
internal import NIOCore

/// Whether the client of a stream takes what is written to it, by what its own system acknowledges: this system's buffer
/// takes megabytes for a client that reads nothing.
struct StreamProgress {
    /// Bytes that this system keeps for a client.
    private static let bufferBytes = 64 << 10

    private var taken: UInt64?
    private var since: NIODeadline

    init(now: NIODeadline = .now()) { since = now }

    /// So that little is written ahead for a client that does not read.
    static func boundBuffer(of channel: any Channel) {
        channel.setOption(.socketOption(.so_sndbuf), value: bufferBytes).whenFailure { _ in
            // Only a larger buffer: nothing is judged by it.
        }
    }

    /// Whether something has waited for `limit`, and nothing was taken meanwhile.
    mutating func isStalled(_ channel: any Channel, for limit: TimeAmount, now: NIODeadline = .now()) -> Bool {
        guard let info = TCPInfo.read(channel) else {
            // A system that does not tell: what the channel can't hand to it.
            if channel.isWritable { since = now }
            return now - since >= limit
        }
        if info.isDrained || info.bytesAcknowledged != taken { since = now }
        taken = info.bytesAcknowledged
        return now - since >= limit
    }
}
