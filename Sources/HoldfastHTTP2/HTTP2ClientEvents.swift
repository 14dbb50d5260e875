/// The events that ``HTTP2ClientSession/receive(_:events:)`` found in the bytes. Reused from call to call, so that
/// nothing is allocated in steady state: empty it with ``removeAll()`` before the next one.
package struct HTTP2ClientEvents: Sendable {
    /// The tags of requests answered with status 200 and no body, in the order of the answers.
    package var succeeded: [UInt64] = []

    /// All other events, in order.
    package var others: [Event] = []

    package enum Event: Sendable {
        /// The final response to a request, complete. (Also for a 200 that has a body, and for every 200 when the
        /// session was asked to decode them.)
        case response(tag: UInt64, HTTP2Response)
        /// The request's stream ended without a complete response: reset by the peer, or by us because the response was
        /// malformed. The peer's REFUSED_STREAM proves that the request was not processed, but only where `hasAnswered`
        /// is false: a peer that has answered has processed the request.
        case reset(tag: UInt64, code: HTTP2ErrorCode, byPeer: Bool, hasAnswered: Bool)
        /// The peer takes no more requests on this connection.
        case goAway(HTTP2GoAway)
        /// The peer's SETTINGS arrived, for the first time or changed. A smaller `headerTableSize` obliges the next
        /// header block to begin with a size update (RFC 7541 §4.2).
        case settingsChanged(maxConcurrentStreams: Int, headerTableSize: Int)
        /// The answer to ``HTTP2ClientSession/ping(_:)``.
        case pong(UInt64)
        /// The peer broke the protocol. `output` ends with a GOAWAY that says so; write it and close. Nothing more is
        /// received. The requests left without an answer are in ``HTTP2ClientSession/openTags``.
        case connectionError(HTTP2Error)
    }

    package init() {}

    package var isEmpty: Bool { succeeded.isEmpty && others.isEmpty }

    /// Empties it, keeping the memory.
    package mutating func removeAll() {
        succeeded.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
    }
}

/// A final response.
package struct HTTP2Response: Sendable, Equatable {
    package var status: Int
    /// The header fields as received, `:status` included.
    package var headers: [HeaderField]
    package var body: [UInt8]
    /// The body was longer than ``HTTP2Limits/maxBodySize``; the rest was not received.
    package var isTruncated: Bool

    package init(status: Int, headers: [HeaderField], body: [UInt8] = [], isTruncated: Bool = false) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isTruncated = isTruncated
    }
}

/// A GOAWAY as received.
package struct HTTP2GoAway: Sendable, Equatable {
    /// The smallest of this connection's GOAWAYs so far. Requests on streams up to it may still be answered.
    package var lastStreamID: UInt32
    package var code: HTTP2ErrorCode
    /// Cut at ``HTTP2Limits/maxDebugData``. Apple puts a JSON `reason` here.
    package var debugData: [UInt8]
    /// The tags of requests on streams above ``lastStreamID``, in the order they were started. They were not processed
    /// and are no longer open. A request whose response has begun is not among them: the peer contradicts itself, and the
    /// request stays open for the rest of its response.
    package var neverProcessed: [UInt64]

    package init(lastStreamID: UInt32, code: HTTP2ErrorCode, debugData: [UInt8], neverProcessed: [UInt64]) {
        self.lastStreamID = lastStreamID
        self.code = code
        self.debugData = debugData
        self.neverProcessed = neverProcessed
    }
}
