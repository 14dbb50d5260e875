internal import Holdfast
internal import NIOCore

/// One HTTP/2 connection, as the engine sees it: what is sent waits here until the event loop takes it.
final class APNsConnection: Connection {
    private struct State: Sendable {
        var inbox: [HandOut] = []
        var capacity = 1
        /// Nil before there is one, and from the connection's end on: handler and connection would keep each other alive.
        var handler: NIOLoopBound<APNsHandler>?
        var hasEnded = false
    }

    private let loop: any EventLoop
    private let state = Monitor(State())

    init(loop: any EventLoop) { self.loop = loop }

    /// On the event loop.
    func bind(_ handler: APNsHandler) {
        state.withLock { $0.handler = NIOLoopBound(handler, eventLoop: loop) }
    }

    func setInitialCapacity(_ capacity: Int) { state.withLock { $0.capacity = capacity } }

    var capacity: Int { state.withLock(\.capacity) }

    func send(_ handOut: HandOut) {
        // A wake for the first of a turn of the event loop; the others are found with it.
        let handler: NIOLoopBound<APNsHandler>? = state.withLock { state in
            // The end, which was reported, answers for what comes after it: provably not sent.
            guard !state.hasEnded else { return nil }
            state.inbox.append(handOut)
            return state.inbox.count == 1 ? state.handler : nil
        }
        guard let handler else { return }
        loop.execute { handler.value.wake() }
    }

    /// On the event loop: what was sent since the last call.
    func takeInbox() -> [HandOut] {
        state.withLock { state in
            defer { state.inbox = [] }
            return state.inbox
        }
    }

    /// On the event loop: nothing is taken any more.
    func unbind() {
        state.withLock { state in
            state.hasEnded = true
            state.handler = nil
            state.inbox = []
        }
    }

    func close(deadline: Duration) {
        guard let handler = state.withLock(\.handler) else { return }
        loop.execute { handler.value.close(deadline: deadline) }
    }
}
