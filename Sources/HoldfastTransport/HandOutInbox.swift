package import Holdfast
package import NIOCore

/// A connection's handler on its event loop.
package protocol HandOutHandler: AnyObject, SendableMetatype {
    /// Something is in the inbox.
    func wake()
}

/// A queue between the engine's thread and a connection's event loop: hand-outs wait here until the loop takes them.
package final class HandOutInbox<Handler: HandOutHandler>: Sendable {
    private struct State: Sendable {
        var handOuts: [HandOut] = []
        /// nil before there is one, and from the connection's end on: handler and connection would keep each other
        /// alive.
        var handler: NIOLoopBound<Handler>?
        /// Whether nothing is taken any more.
        var isSealed = false
        var hasEnded = false
    }

    private let loop: any EventLoop
    private let state = Monitor(State())

    package init(loop: any EventLoop) { self.loop = loop }

    /// The connection has ended.
    package var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Sets the handler. On the event loop.
    package func bind(_ handler: Handler) {
        state.withLock { $0.handler = NIOLoopBound(handler, eventLoop: loop) }
    }

    /// Ends the inbox with its connection: nothing is taken any more. On the event loop.
    package func unbind() {
        state.withLock { state in
            state.hasEnded = true
            state.handler = nil
            state.handOuts = []
        }
    }

    /// Takes nothing any more; hand-outs taken before stay.
    package func seal() { state.withLock { $0.isSealed = true } }

    package func append(_ handOut: HandOut) {
        // A wake for the first of a turn of the event loop; the others are found with it.
        let handler: NIOLoopBound<Handler>? = state.withLock { state in
            // The connection's end reports late hand-outs: provably not sent.
            guard !state.hasEnded, !state.isSealed else { return nil }
            state.handOuts.append(handOut)
            return state.handOuts.count == 1 ? state.handler : nil
        }
        guard let handler else { return }
        loop.execute { handler.value.wake() }
    }

    /// Returns the hand-outs since the last call. On the event loop.
    package func takeAll() -> [HandOut] {
        state.withLock { state in
            defer { state.handOuts = [] }
            return state.handOuts
        }
    }

    /// Does something with the handler on the event loop; nothing once the connection has ended.
    package func perform(_ action: @escaping @Sendable (Handler) -> Void) {
        guard let handler = state.withLock(\.handler) else { return }
        loop.execute { action(handler.value) }
    }
}
