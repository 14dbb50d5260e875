package import Holdfast
internal import HoldfastHTTP2

/// The streams of one connection, for a dialect that writes requests into them.
///
/// A type of its own, and not generic, so that a dialect's loop over the requests of a batch calls it directly:
/// `holdfast bench delivery` measures that.
package struct RequestWriter {
    var http: HTTP2ClientSession
    /// Whether more than one request may be open.
    var isProven: Bool
    /// Requests that can't be written, and why.
    var unwritable: [(ticket: Ticket, why: String)] = []
    private var block: [UInt8] = []

    init(_ http: HTTP2ClientSession, isProven: Bool) {
        self.http = http
        self.isProven = isProven
    }

    /// Whether a request may be written now.
    package mutating func takesRequest() -> Bool { http.takesRequest() && (isProven || http.openStreams == 0) }

    /// Writes a request. Only where ``takesRequest()`` has just said so.
    ///
    /// - Parameters:
    ///   - body: where `range` of it is the body.
    ///   - encode: appends the header block. A block that is encoded is sent: the peer's table of header fields follows
    ///     from it.
    package mutating func write(
        _ ticket: Ticket, body: [UInt8], in range: Range<Int>, encode: (_ block: inout [UInt8]) -> Void
    ) {
        block.removeAll(keepingCapacity: true)
        encode(&block)
        // Cannot be refused: takesRequest was asked just before.
        _ = http.startRequest(tag: ticket.rawValue, headerBlock: block, body: body, bodyRange: range)
    }

    /// Reports a request that can't be written as not sent.
    package mutating func refuse(_ ticket: Ticket, _ why: String) { unwritable.append((ticket, why)) }
}
