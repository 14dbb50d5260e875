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
        while mayStart(), let next = queue.first { start(next.handOut, next.item) }
        if canStart || queue.isEmpty { lastStart = .now() }
        if session.isExhausted { drain(cause: "the connection's stream numbers have run out") }
        write()
    }

    /// Apple allows a connection with provider tokens one stream until a request has been taken with one.
    @inline(__always)
    private func mayStart() -> Bool { session.takesRequest() && (isProven || session.openStreams == 0) }

    /// Starts the request for an item of a hand-out, the first in the queue.
    private func start(_ handOut: HandOut, _ item: Int) {
        let entries = handOut.entries
        let ticket = handOut.tickets[item]
        do throws(PackedNotification.Damage) {
            let fields = try entries.fields(at: item)
            block.removeAll(keepingCapacity: true)
            headers.append(fields, of: entries.bytes, to: &block)
            // Cannot be refused: takesRequest was asked just before.
            _ = session.startRequest(
                tag: ticket.rawValue, headerBlock: block, body: entries.bytes, bodyRange: fields.payload)
        } catch {
            sink(.results([(ticket, .notSent("the entry can't be read: \(error)"))]))
        }
        queue.removeFirst()
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
