import Holdfast
import Synchronization

/// The client of a service that takes one message at a time, and says a status.
protocol ChatClient: Sendable {
    /// Throws if the connection can't be made.
    func open() async throws
    /// Throws if no answer came: then the message may have been taken.
    func push(_ body: [UInt8], to address: String) async throws -> Int
}

/// Sends through a ``ChatClient``.
struct ChatConnector: Connector {
    let client: any ChatClient
    let endpoint = "https://chat.example:443"
    let confirmationMode = ConfirmationMode.perNotification

    /// Checked at submission: an address of another kind, or a payload that is too large, is refused there.
    var limits: NotificationLimits {
        .service(
            ServiceLimits(kinds: [.firebaseToken], blacklistLifetime: .seconds(86400)), payload: 4096, collapseID: 0)
    }

    func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        do {
            try await client.open()
        } catch {
            throw ConnectError(.temporary, "\(endpoint) can't be reached: \(error)")
        }
        return ChatConnection(client, sink)
    }
}

/// One connection. Every ticket is answered once: by a result, or by the end.
final class ChatConnection: Connection {
    let capacity = 100
    private let client: any ChatClient
    private let sink: ConnectionSink
    private let state = Mutex(State())

    private struct State {
        /// Tickets with a call that is not answered yet.
        var waiting: Set<Ticket> = []
        var isClosing = false
        var hasEnded = false
    }

    init(_ client: any ChatClient, _ sink: ConnectionSink) {
        self.client = client
        self.sink = sink
    }

    func send(_ handOut: HandOut) {
        // After the end nothing is sent: the end has answered these tickets, too.
        let isOpen = state.withLock { state in
            guard !state.hasEnded, !state.isClosing else { return false }
            state.waiting.formUnion(handOut.tickets)
            return true
        }
        guard isOpen else { return }
        for (index, ticket) in handOut.tickets.enumerated() {
            Task { [self] in answer(ticket, await result(of: handOut.entries, at: index)) }
        }
    }

    private func result(of entries: EntryBatch, at index: Int) async -> SendResult {
        do {
            let notification = try entries.notification(at: index)
            switch try await client.push(notification.payload, to: notification.recipient.text) {
            case 200: return .confirmed
            case 404: return SendResult(.rejected(.token), status: 404, reason: Reason(rawValue: "NoSuchAddress"))
            case 400, 413:
                return SendResult(.rejected(.notification), status: 400, reason: Reason(rawValue: "BadMessage"))
            case 401, 403: return SendResult(.laneStopped(.credentials), status: 403)
            case 429: return SendResult(.deferred(.service), status: 429)
            case let status:
                // A fault of the service, or of a proxy that may have passed the message on: only what is known to be
                // refused for good is rejected.
                var result = SendResult(.deferred(.service), status: status)
                result.mayHaveBeenTaken = true
                return result
            }
        } catch is PackedNotification.Damage {
            return SendResult(.rejected(.notification), reason: Reason(rawValue: "Unreadable"))
        } catch {
            return .unknown("no answer: \(error)")
        }
    }

    private func answer(_ ticket: Ticket, _ result: SendResult) {
        // Under the lock, so that events come one after the other, and none after the end.
        state.withLock { state in
            guard !state.hasEnded, state.waiting.remove(ticket) != nil else { return }
            sink(result == .confirmed ? .confirmed([ticket]) : .results([(ticket, result)]))
            if state.isClosing, state.waiting.isEmpty { end(&state, cause: nil) }
        }
    }

    func close(deadline: Duration) {
        state.withLock { state in
            guard !state.isClosing else { return }
            state.isClosing = true
            if state.waiting.isEmpty { end(&state, cause: nil) }
        }
        Task { [self] in
            try await Task.sleep(for: deadline)
            state.withLock { state in end(&state, cause: "no answer before the end") }
        }
    }

    private func end(_ state: inout State, cause: String?) {
        guard !state.hasEnded else { return }
        state.hasEnded = true
        // These become unknown. All others that were handed out were provably never sent.
        sink(.ended(ConnectionEnd(possiblySent: Array(state.waiting), cause: cause)))
    }
}
