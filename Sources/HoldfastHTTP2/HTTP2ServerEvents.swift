/// The events that ``HTTP2ServerSession/receive(_:events:)`` found in the bytes. Reused from call to call: empty it
/// with ``removeAll()`` before the next one.
package struct HTTP2ServerEvents: Sendable {
    /// The complete requests, in the order they became complete.
    package var requests: [Request] = []

    /// The header fields of ``requests``, side by side.
    package var headers = HeaderList()

    /// The bodies of ``requests``, side by side.
    package var bodies: [UInt8] = []

    /// All other events, in order.
    package var others: [Event] = []

    package struct Request: Sendable {
        package var streamID: UInt32
        /// The range of its fields in ``HTTP2ServerEvents/headers``: as received, pseudo-headers first, their validity
        /// checked (RFC 9113 §8.2 and §8.3).
        package var fields: Range<Int>
        /// The range of its body in ``HTTP2ServerEvents/bodies``.
        package var body: Range<Int>
        /// The body was longer than ``HTTP2Limits/maxBodySize`` and is cut there. Its rest is not kept; the request
        /// can be answered (413, say).
        package var isTruncated: Bool
    }

    package enum Event: Sendable, Equatable {
        /// A stream whose request may have been reported is gone: reset by the peer, or by us because the request or
        /// its rest was malformed. An answer to it is dropped.
        case reset(streamID: UInt32, code: HTTP2ErrorCode, byPeer: Bool)
        /// The client is leaving.
        case goAway(lastStreamID: UInt32, code: HTTP2ErrorCode, debugData: [UInt8])
        /// The client's SETTINGS arrived, for the first time or changed.
        case settingsChanged(headerTableSize: Int)
        /// The client acknowledged our oldest SETTINGS not yet acknowledged.
        case settingsAcknowledged
        /// The answer to ``HTTP2ServerSession/ping(_:)``.
        case pong(UInt64)
        /// The client broke the protocol. `output` ends with a GOAWAY that says so; write it and close. Nothing more is
        /// received.
        case connectionError(HTTP2Error)
    }

    package init() {}

    package var isEmpty: Bool { requests.isEmpty && others.isEmpty }

    /// The header fields of a request as text.
    package func headers(of request: Request) -> [HeaderField] { headers[request.fields] }

    /// The bytes of memory kept for the header fields of the next call. A usual read takes less.
    private static let keptHeaders = 1 << 17

    /// Empties it, keeping the memory.
    package mutating func removeAll() {
        requests.removeAll(keepingCapacity: true)
        headers.removeAll(keeping: Self.keptHeaders)
        bodies.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
    }
}
