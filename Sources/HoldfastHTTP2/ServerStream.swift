/// A request that is arriving or being answered.
struct ServerStream: SendingStream {
    enum Phase: UInt8, Sendable {
        /// Its header fields are known, its body is arriving.
        case receiving
        /// Reported cut at the bound, or answered early; the rest of its body is thrown away.
        case discarding
        /// All of it has arrived.
        case received
        case lingering
    }

    var id: UInt32
    var phase: Phase
    /// Our END_STREAM is written or held back.
    var isEnding = false
    /// Some of our DATA is held back.
    var isHeld = false
    /// Bytes thrown away.
    var discarded: Int32 = 0
    /// The index of its ``PartialRequest``; -1 when it has none.
    var request: Int32 = -1
    var sendWindow: FlowWindow
    var receiveWindow: ReceiveWindow

    init(id: UInt32, phase: Phase, sendWindow: FlowWindow, receiveWindow: ReceiveWindow) {
        self.id = id
        self.phase = phase
        self.sendWindow = sendWindow
        self.receiveWindow = receiveWindow
    }

    @inline(__always) var isLingering: Bool { phase == .lingering }
    /// Our end is written; nothing more is wanted of it.
    var isOver: Bool { isEnding && !isHeld }
    var isReceiving: Bool { phase == .receiving || phase == .discarding }

    static let free = ServerStream(
        id: 0, phase: .received, sendWindow: FlowWindow(0), receiveWindow: ReceiveWindow(full: 0))

    static func lingering(_ id: UInt32) -> ServerStream {
        ServerStream(id: id, phase: .lingering, sendWindow: FlowWindow(0), receiveWindow: ReceiveWindow(full: 0))
    }
}

/// A request whose body is arriving.
struct PartialRequest: Sendable {
    var headers = HeaderList()
    var body: [UInt8] = []
    /// The length that `content-length` announces.
    var contentLength: Int?
    /// Its part of ``HTTP2Limits/maxIncoming``.
    var cost = 0

    /// Bytes of memory that are kept for the next request: the usual size.
    static let kept = 8192

    /// Moves its fields and its body so far to the events, and empties it.
    ///
    /// - Returns: the range of the fields.
    mutating func move(to events: inout HTTP2ServerEvents) -> Range<Int> {
        events.bodies.append(contentsOf: body)
        defer { reset() }
        return events.headers.append(headers)
    }

    mutating func reset() {
        headers.removeAll(keeping: Self.kept)
        if !body.isEmpty { body.removeAll(keepingCapacity: body.capacity <= Self.kept) }
        cost = 0
        contentLength = nil
    }
}
