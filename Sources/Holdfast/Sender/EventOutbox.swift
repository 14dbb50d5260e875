/// The events of one connection on their way out: in order, whichever threads they come from, and none after the end.
package final class EventOutbox: Sendable {
    private struct State: Sendable {
        var events: [ConnectorEvent] = []
        var isDelivering = false
        var isOver = false
    }

    private let state = Monitor(State())
    private let sink: ConnectionSink

    package init(_ sink: ConnectionSink) { self.sink = sink }

    package var isOver: Bool { state.withLock(\.isOver) }

    /// Puts events behind those that wait. May be called under a lock; ``deliver()`` may not.
    ///
    /// - Returns: whether the connection was not over yet.
    @discardableResult
    package func put(_ events: [ConnectorEvent]) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            for event in events {
                state.events.append(event)
                guard case .ended = event else { continue }
                state.isOver = true
                break
            }
            return true
        }
    }

    /// Hands out what waits, unless another thread is at it, which then does it all.
    package func deliver() {
        while true {
            let next: ConnectorEvent? = state.withLock { state in
                guard !state.isDelivering, !state.events.isEmpty else { return nil }
                state.isDelivering = true
                return state.events.removeFirst()
            }
            guard let next else { return }
            sink(next)
            state.withLock { $0.isDelivering = false }
        }
    }
}
