package import Holdfast
package import HoldfastTransport
package import NIOCore

/// One HTTP/2 connection to a push service, as the engine sees it.
package final class RequestConnection<Dialect: RequestDialect>: Connection, RetirableConnection, RequestOwner
where Dialect.Batch == HandOut, Dialect.Result == SendResult {
    private let room = Monitor((capacity: 1, streams: 1))
    package let loop: any EventLoop
    private let inbox: HandOutInbox<RequestHandler<Dialect>>
    private let sink: ConnectionSink
    /// The address at the other end.
    private let dialed: DialedAddress
    /// `nil` once completed: a promise keeps its result alive.
    private let ready: Monitor<EventLoopPromise<RequestConnection<Dialect>>?>

    /// A connection over `channel`; on its event loop.
    ///
    /// - Parameter ready: completed when requests may be handed over, or never will.
    @discardableResult
    package init(
        _ dialect: Dialect, _ settings: RequestSettings, over channel: any Channel, to dialed: DialedAddress,
        sink: ConnectionSink, ready: EventLoopPromise<RequestConnection<Dialect>>
    ) throws {
        loop = channel.eventLoop
        inbox = HandOutInbox(loop: loop)
        self.sink = sink
        self.dialed = dialed
        self.ready = Monitor(ready)
        let handler = RequestHandler(dialect, settings, owner: self)
        inbox.bind(handler)
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            // The channel has closed already. Handler and connection would keep each other alive.
            inbox.unbind()
            throw error
        }
    }

    // MARK: The engine's side

    package var capacity: Int { room.withLock(\.capacity) }

    package var streams: Int { room.withLock(\.streams) }

    /// The connection has ended, and nothing is taken any more.
    package var hasEnded: Bool { inbox.hasEnded }

    package func send(_ handOut: HandOut) { inbox.append(handOut) }

    /// Requests that come meanwhile are not sent: the end answers for them.
    package func close(deadline: Duration) {
        // Here and not on the loop, which may look into the inbox once more before it hears of this.
        inbox.seal()
        inbox.perform { $0.close(deadline: deadline) }
    }

    package func retire() -> EventLoopFuture<Void> {
        inbox.perform { $0.retire() }
        return loop.submit {}
    }

    // MARK: The event loop's side

    package func takeAll() -> [HandOut] { inbox.takeAll() }

    package func failed(_ error: any Error) { takeReady()?.fail(error) }

    package func handlerRemoved() { inbox.unbind() }

    package func perform(_ action: RequestAction<SendResult>) {
        switch action {
        case .opened(let capacity, let streams):
            room.withLock { $0 = (capacity, streams) }
            takeReady()?.succeed(self)
        case .roomChanged(let capacity, let streams):
            room.withLock { $0 = (capacity, streams) }
            sink(.capacityChanged(capacity))
        case .confirmed(let tickets): sink(.confirmed(tickets))
        case .results(let results): sink(.results(results))
        case .told(let result): sink(.told(result))
        case .draining: sink(.draining)
        case .stalled(let why): dialed.stalled(why)
        case .close: break
        case .failed(let error):
            inbox.unbind()
            failed(error)
        case .ended(let possiblySent, let cause):
            inbox.unbind()
            sink(.ended(ConnectionEnd(possiblySent: possiblySent, cause: cause)))
        }
    }
    private func takeReady() -> EventLoopPromise<RequestConnection<Dialect>>? {
        ready.withLock { ready in
            defer { ready = nil }
            return ready
        }
    }
}
