package import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport

/// Requests out.
extension RequestSession {
    /// Starts as many requests as there are streams for.
    package mutating func pump(at now: Moment) {
        guard case .open = phase else {
            switch phase {
            case .draining: returnQueue()
            case .opening, .open, .ended: break
            }
            return
        }
        guard authorize(at: now), isWritable else { return }
        let canStart = http.takesRequest()
        let before = http.nextRequestStreamID
        Self.write(&queue, as: &dialect, to: &writer)
        if http.nextRequestStreamID != before {
            liveness.started(before: http.nextRequestStreamID, at: now.monotonic)
        }
        reportUnwritable()
        if canStart || queue.isEmpty { lastStart = now.monotonic }
        if http.isExhausted { drain(cause: "the connection's stream numbers have run out", at: now) }
    }

    /// Starts requests as long as there are streams and entries.
    private static func write(
        _ queue: inout BatchQueue<Dialect.Batch>, as dialect: inout Dialect, to writer: inout RequestWriter
    ) {
        queue.takeBatches { batch, first in dialect.write(batch, from: first, to: &writer) }
    }

    private mutating func reportUnwritable() {
        guard !writer.unwritable.isEmpty else { return }
        actions.append(.results(writer.unwritable.map { ($0.ticket, .notSent($0.why)) }))
        writer.unwritable = []
    }

    /// - Returns: whether requests may go out.
    private mutating func authorize(at now: Moment) -> Bool {
        do throws(ConnectError) {
            try dialect.authorize(at: now)
            return true
        } catch {
            fail(error.message, kind: error.kind, at: now)
            return false
        }
    }

    /// Gives back what has no stream yet: it was never sent.
    ///
    /// - Returns: whether there was any.
    @discardableResult
    mutating func returnQueue(_ result: Dialect.Result? = nil) -> Bool {
        let unsent = queue.removeAll()
        guard !unsent.isEmpty else { return false }
        let result = result ?? .notSentHere("the connection is ending")
        actions.append(.results(unsent.map { ($0, result) }))
        return true
    }
}
