internal import Holdfast

/// What the service has against this sender, told by a GOAWAY on a connection that carried nothing which could be answered
/// with it. The next attempt to connect is answered with it instead, once: so the route's lanes stop with the service's own
/// words, and it is tried again as after any other error of the configuration.
final class ConnectionRefusal: Sendable {
    private let state = Monitor<ConnectError?>(nil)

    func note(_ error: ConnectError) { state.withLock { $0 = error } }

    func take() -> ConnectError? {
        state.withLock { error in
            defer { error = nil }
            return error
        }
    }
}
