internal import Holdfast

/// What the service has against this sender, told by a GOAWAY on a connection that carried nothing which could be answered
/// with it. The next attempt to connect with the same credentials is answered with it instead, once: so the route's lanes
/// stop with the service's own words, and it is tried again as after any other error of the configuration.
final class ConnectionRefusal: Sendable {
    private let state = Monitor<(error: ConnectError, generation: Int)?>(nil)

    /// - Parameter generation: of the credentials that were refused.
    func note(_ error: ConnectError, generation: Int) { state.withLock { $0 = (error, generation) } }

    func take(generation: Int) -> ConnectError? {
        state.withLock { state in
            defer { state = nil }
            return state?.generation == generation ? state?.error : nil
        }
    }
}
