/// Where other threads leave what is for a route, and where its thread waits for it.
final class RouteInbox: Sendable {
    private let inbox = Monitor(ConsumerInbox())

    /// Leaves something and wakes the thread. From any thread.
    ///
    /// - Returns: false if the inbox is closed; then nothing was put into it.
    @discardableResult
    func post(_ change: (inout ConsumerInbox) -> Void) -> Bool {
        let (isOver, wasEmpty) = inbox.withLock { inbox in
            defer { if !inbox.isOver { change(&inbox) } }
            return (inbox.isOver, inbox.isEmpty)
        }
        if wasEmpty, !isOver { inbox.signal() }
        return !isOver
    }

    var isEmpty: Bool { inbox.withLock(\.isEmpty) }

    /// All that it holds.
    func take() -> ConsumerInbox {
        var received = ConsumerInbox()
        inbox.withLock { swap(&$0, &received) }
        return received
    }

    /// Connections that were made after they were needed.
    func takeConnected() -> [(connection: Int, result: Result<any Connection, ConnectError>)] {
        inbox.withLock { inbox in
            defer { inbox.connected = [] }
            return inbox.connected
        }
    }

    /// Takes all that it holds, and lets nothing more be left.
    func close() -> ConsumerInbox {
        inbox.withLock { inbox in
            defer { inbox = ConsumerInbox(isOver: true) }
            return inbox
        }
    }

    /// Blocks until something is there.
    func wait(atMost limit: Duration?) {
        _ = inbox.wait(atMost: limit) { inbox -> Void? in inbox.isEmpty ? nil : () }
    }
}
