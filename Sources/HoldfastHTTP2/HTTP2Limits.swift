/// The limits of an HTTP/2 session. Everything that can grow has one.
///
/// The greatest memory of a session is about `maxIncoming` (incoming messages), `maxHeldBack` (outgoing bodies) and
/// `maxQueuedOutput`, with two frames and a header block: ``greatestHeld``.
package struct HTTP2Limits: Sendable, Equatable {
    /// The most bytes in the payload of an accepted frame. The protocol's minimum, 16384, which a peer assumes; a
    /// longer frame is a connection error FRAME_SIZE_ERROR.
    package static let maxFrameSize = 16384

    /// Bytes of one header block, CONTINUATION frames included, and of the header list it decodes to as RFC 9113
    /// §10.5.1 counts them. More is a connection error ENHANCE_YOUR_CALM.
    package var maxHeaderBlock = 16384

    /// CONTINUATION frames in one header block.
    package var maxContinuations = 16

    /// The most bytes of one message's body. Client: a longer body of a response is cut there and its stream reset.
    /// Server: a request with a longer one is reported cut there, see ``HTTP2ServerEvents/Request/isTruncated``.
    package var maxBodySize: Int

    /// The most bytes of all incomplete incoming messages: header blocks, an estimate of their decoded fields, and
    /// bodies. More is a connection error ENHANCE_YOUR_CALM. The limits above are for one message; this one protects
    /// against a peer that begins thousands and ends none.
    package var maxIncoming: Int

    /// Server: bytes of one body that are received and thrown away, because the request was answered without them,
    /// before its stream is reset with NO_ERROR. Not at once: curl 7.88 for one loses an answer that a reset follows closely.
    package var maxDiscardedBody = 1 << 20

    /// Streams open at once. Client: of ours, whatever more the peer allows. Server: announced as
    /// MAX_CONCURRENT_STREAMS; more are refused with REFUSED_STREAM.
    package var maxConcurrentStreams: Int

    /// Client: streams before the peer's SETTINGS have told how many it takes. 1 is safe everywhere, the push service
    /// included, which opens with 1 for token authentication; the protocol itself would allow any number.
    package var streamsBeforeSettings = 1

    /// The bytes of one body that the peer may send before we open its window again: SETTINGS_INITIAL_WINDOW_SIZE.
    package var streamReceiveWindow = 65535

    /// The bytes of all bodies that the peer may send before we open the connection's window again. At least 65535, the
    /// initial size of every connection; a WINDOW_UPDATE goes out whenever half is used.
    package var connectionReceiveWindow: Int

    /// Bytes of DATA that wait for the peer's flow-control windows. More requests are refused by
    /// ``HTTP2ClientSession/startRequest(tag:headerBlock:body:bodyRange:)`` while it is reached.
    package var maxHeldBack = 4 << 20

    /// Bytes in `output` that the driver has not taken. Past it requests are refused, and a peer whose frames make us
    /// answer more is closed with ENHANCE_YOUR_CALM.
    package var maxQueuedOutput = 16 << 20

    /// Frames that move nothing (SETTINGS, PING, PRIORITY, WINDOW_UPDATE, unknown types, empty DATA, frames for closed
    /// streams, informational responses) in one budget; a completed message or `renewFrameBudget()` starts a new one.
    /// More is a connection error ENHANCE_YOUR_CALM. SETTINGS that change the initial window, and a GOAWAY that takes
    /// streams back, make us look at every stream and count for more: one for each 64 slots of streams.
    package var maxIdleFrames = 10_000

    /// Streams that ended by RST_STREAM, the peer's or ours for the peer's fault, less those completed, in one budget.
    /// Server only (a service may refuse as many requests as it likes). More is a connection error ENHANCE_YOUR_CALM.
    package var maxResets = 1000

    /// Bytes kept of a GOAWAY's debug data.
    package var maxDebugData = 1024

    /// SETTINGS of ours that wait for their acknowledgement.
    package static let maxPendingSettings = 16

    package init(maxBodySize: Int, maxIncoming: Int, maxConcurrentStreams: Int, connectionReceiveWindow: Int) {
        self.maxBodySize = maxBodySize
        self.maxIncoming = maxIncoming
        self.maxConcurrentStreams = maxConcurrentStreams
        self.connectionReceiveWindow = connectionReceiveWindow
    }

    /// The limits of senders: error bodies of 8 KiB, 8 MiB of them at a time, 4096 streams, 1 MiB connection window.
    package static let client = HTTP2Limits(
        maxBodySize: 8192, maxIncoming: 8 << 20, maxConcurrentStreams: 4096, connectionReceiveWindow: 1 << 20)

    /// The limits of servers of small requests: bodies of 16 KiB, 32 MiB of them at a time, 1000 streams, 16 MiB
    /// connection window.
    package static let server = HTTP2Limits(
        maxBodySize: 16384, maxIncoming: 32 << 20, maxConcurrentStreams: 1000, connectionReceiveWindow: 16 << 20)

    /// The most bytes that a session holds, whatever its peer does, while no call gives it more than `chunk` bytes at a
    /// time and the caller passes no bodies beyond ``maxHeldBack`` (a client session refuses them; a server's caller
    /// limits its own answers). The slots come on top, some 40 bytes for each stream.
    package func greatestHeld(chunk: Int, body: Int) -> Int {
        let queued = maxQueuedOutput + 2 * chunk
        return queued + 3 * (maxHeldBack + body) + maxIncoming + maxHeaderBlock + 2 * HTTP2Limits.maxFrameSize
    }
}
