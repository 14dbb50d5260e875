package import Holdfast
package import HoldfastHTTP2
internal import NIOCore

/// A service as a test plays it: it answers nothing by itself.
package struct ServiceModel {
    /// A request that has arrived.
    package struct Request {
        package let streamID: UInt32
        package let headers: [HeaderField]
        package let body: [UInt8]
        /// What its payload names.
        package let ticket: Ticket

        package subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    package var session: HTTP2ServerSession
    /// All that have arrived, oldest first.
    package private(set) var requests: [Request] = []
    /// Streams that the client has reset.
    package private(set) var resets: [UInt32] = []
    /// The client has said goodbye.
    package private(set) var hasGoAway = false
    package private(set) var failure: HTTP2Error?

    init(streams: Int) {
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = streams
        session = HTTP2ServerSession(limits: limits)
    }

    mutating func receive(_ buffer: ByteBuffer) {
        var events = HTTP2ServerEvents()
        session.receive(buffer.readableBytesUInt8Span, events: &events)
        for request in events.requests {
            let body = Array(events.bodies[request.body])
            requests.append(
                Request(
                    streamID: request.streamID, headers: events.headers(of: request), body: body,
                    ticket: SessionRecord.ticket(in: body)))
        }
        for event in events.others {
            switch event {
            case .reset(let streamID, _, _): resets.append(streamID)
            case .goAway: hasGoAway = true
            case .connectionError(let error): failure = error
            case .settingsChanged, .settingsAcknowledged, .pong: break
            }
        }
    }

    // MARK: What it answers

    /// The stream of a ticket's request.
    package func stream(_ ticket: UInt64) -> UInt32 {
        requests.last { $0.ticket.rawValue == ticket }?.streamID ?? 0
    }

    package mutating func answer(
        _ tickets: UInt64..., status: Int = 200, headers: [(name: String, value: String)] = [], body: String = ""
    ) {
        for ticket in tickets {
            session.respond(streamID: stream(ticket), status: status, headers: headers, body: Array(body.utf8))
        }
    }

    package mutating func reset(_ ticket: UInt64, _ code: HTTP2ErrorCode) {
        session.reset(streamID: stream(ticket), code: code)
    }

    /// GOAWAY: what is behind this ticket's request is not looked at.
    package mutating func goAway(last ticket: UInt64, _ text: String = "") {
        session.goAway(lastStreamID: stream(ticket), debugData: Array(text.utf8))
    }
}
