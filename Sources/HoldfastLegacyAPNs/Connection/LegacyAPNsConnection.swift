internal import Holdfast
internal import NIOCore

/// One connection of the binary protocol, as the engine sees it: what is sent waits here until the event loop takes it.
final class LegacyAPNsConnection: CumulativeConnection {
    /// The most entries that may be with us and have not left the machine: enough to fill a long line, and few enough to
    /// hold in memory (35 MB at 2 KB each).
    static let capacity = 16_384

    private struct State: Sendable {
        var inbox: [HandOut] = []
        /// Nil before there is one, and from the connection's end on: handler and connection would keep each other alive.
        var handler: NIOLoopBound<LegacyAPNsHandler>?
        /// Nothing is taken any more: a barrier goes behind what was taken, or the connection closes.
        var isSealed = false
        var hasEnded = false
    }

    private let loop: any EventLoop
    private let state = Monitor(State())

    init(loop: any EventLoop) { self.loop = loop }

    /// On the event loop.
    func bind(_ handler: LegacyAPNsHandler) {
        state.withLock { $0.handler = NIOLoopBound(handler, eventLoop: loop) }
    }

    /// On the event loop: nothing is taken any more.
    func unbind() {
        state.withLock { state in
            state.hasEnded = true
            state.handler = nil
            state.inbox = []
        }
    }

    var capacity: Int { Self.capacity }
    var canWriteBarrier: Bool { state.withLock { !$0.hasEnded } }

    func send(_ handOut: HandOut) {
        // A wake for the first of a turn of the event loop; the others are found with it.
        let handler: NIOLoopBound<LegacyAPNsHandler>? = state.withLock { state in
            // The end answers for what comes too late: provably not sent.
            guard !state.hasEnded, !state.isSealed else { return nil }
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

    func listen(stamp: UInt64) { perform { $0.listen(stamp: stamp) } }

    func writeBarrier() {
        state.withLock { $0.isSealed = true }
        perform { $0.writeBarrier() }
    }

    func close(deadline: Duration) {
        state.withLock { $0.isSealed = true }
        perform { $0.close(deadline: deadline) }
    }

    private func perform(_ action: @escaping @Sendable (LegacyAPNsHandler) -> Void) {
        guard let handler = state.withLock(\.handler) else { return }
        loop.execute { action(handler.value) }
    }
}
