internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport
internal import NIOCore

/// Requests out.
extension APNsHandler {
    func wake() { pump() }

    /// Starts as many requests as there are streams for.
    func pump() {
        queue.append(connection.inbox.takeAll())
        guard case .open = phase else {
            if case .opening = phase {} else { returnQueue() }
            return write()
        }
        guard authorize() else { return }
        guard context?.channel.isWritable == true else { return write() }
        let canStart = session.takesRequest()
        let unreadable = Self.start(&queue, &session, &headers, &block, isProven: isProven)
        if !unreadable.isEmpty { sink(.results(unreadable)) }
        if canStart || queue.isEmpty { lastStart = .now() }
        if session.isExhausted { drain(cause: "the connection's stream numbers have run out") }
        write()
    }

    /// Starts requests as long as there are streams and entries.
    ///
    /// The machines are handed over once for all requests: an access for each would cost as much as its header block.
    ///
    /// - Parameter isProven: Apple allows a connection with provider tokens one stream until a request has been taken with one.
    /// - Returns: the entries that can't be read.
    private static func start(
        _ queue: inout HandOutQueue, _ session: inout HTTP2ClientSession, _ headers: inout RequestHeaders,
        _ block: inout [UInt8], isProven: Bool
    ) -> [(ticket: Ticket, result: SendResult)] {
        var unreadable: [(ticket: Ticket, result: SendResult)] = []
        queue.takeWhile { handOut, item in
            guard session.takesRequest(), isProven || session.openStreams == 0 else { return false }
            let ticket = handOut.tickets[item]
            do throws(PackedNotification.Damage) {
                let fields = try handOut.entries.fields(at: item)
                block.removeAll(keepingCapacity: true)
                headers.append(fields, of: handOut.entries.bytes, to: &block)
                // Cannot be refused: takesRequest was asked just before.
                _ = session.startRequest(
                    tag: ticket.rawValue, headerBlock: block, body: handOut.entries.bytes, bodyRange: fields.payload)
            } catch {
                unreadable.append((ticket, .notSent("the entry can't be read: \(error)")))
            }
            return true
        }
        return unreadable
    }

    /// Has a provider token of the right age at hand.
    ///
    /// - Returns: whether requests may go out.
    private func authorize() -> Bool {
        guard let tokens else { return true }
        do throws(APNsConfigurationError) {
            let current = try tokens.current()
            if current != token { use(current) }
            return true
        } catch {
            fail(error.message, kind: .configuration)
            return false
        }
    }

    func use(_ current: ProviderTokenSource.Token) {
        token = current
        headers.setAuthorization(current.authorization)
    }

    func write() {
        guard let context, session.hasOutput else { return }
        var buffer = context.channel.allocator.buffer(capacity: session.output.count)
        session.drainOutput(into: &buffer)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    /// Gives back what has no stream yet: it was never sent.
    ///
    /// - Returns: whether there was any.
    @discardableResult
    func returnQueue(_ result: SendResult? = nil) -> Bool {
        let unsent = queue.removeAll()
        guard !unsent.isEmpty else { return false }
        let result = result ?? SendResult(.neverProcessed(.newConnection), detail: "the connection is ending")
        sink(.results(unsent.map { ($0, result) }))
        return true
    }
}
