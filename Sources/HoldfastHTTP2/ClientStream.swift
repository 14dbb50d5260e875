/// A request without an answer.
struct ClientStream: RingStream {
    enum Phase: UInt8, Sendable {
        /// No final response has begun.
        case waiting
        /// Status 200 arrived, its header block is kept undecoded; only the end of the stream is missing.
        case success
        /// The response's header fields are decoded, its body is arriving.
        case responding
        case lingering
    }

    var id: UInt32
    var phase: Phase
    /// Our END_STREAM is written.
    var isSent = false
    /// Header fields of a response have come, informational ones too: the request was processed, whatever follows.
    var hasAnswered = false
    /// The index of its ``PartialResponse``; -1 when it has none.
    var response: Int32 = -1
    var sendWindow: FlowWindow
    var receiveWindow: ReceiveWindow
    var tag: UInt64

    @inline(__always)
    init(id: UInt32, tag: UInt64, sendWindow: FlowWindow, receiveWindow: ReceiveWindow, phase: Phase = .waiting) {
        self.id = id
        self.tag = tag
        self.phase = phase
        self.sendWindow = sendWindow
        self.receiveWindow = receiveWindow
    }

    @inline(__always) var isLingering: Bool { phase == .lingering }

    static let free = ClientStream(id: 0, tag: 0, sendWindow: FlowWindow(0), receiveWindow: ReceiveWindow(full: 0))

    static func lingering(_ id: UInt32) -> ClientStream {
        ClientStream(
            id: id, tag: 0, sendWindow: FlowWindow(0), receiveWindow: ReceiveWindow(full: 0), phase: .lingering)
    }
}

/// A response that has begun.
struct PartialResponse: Sendable {
    /// The undecoded header block of a 200.
    var block: [UInt8] = []
    var response = HTTP2Response(status: 0, headers: [])
    /// The length that `content-length` announces.
    var contentLength: Int?
    /// Its part of ``HTTP2Limits/maxIncoming``.
    var cost = 0

    mutating func reset() {
        // The usual size is worth keeping for the next response; thousands of large ones are not.
        block.removeAll(keepingCapacity: block.capacity <= 1024)
        cost = 0
        response = HTTP2Response(status: 0, headers: [])
        contentLength = nil
    }
}
