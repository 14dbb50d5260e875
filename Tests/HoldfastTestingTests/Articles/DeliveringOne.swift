import Holdfast

/// Sends one code, and says whether the service took it.
func sendCode(_ notification: PushNotification, through engine: PushEngine) async throws -> Bool {
    // With an id of your own you may ask again after a restart: it is recognised, and not sent twice.
    let outcome = try await engine.deliver(notification)
    switch outcome.terminal {
    case .confirmed: return true
    case .rejected(let reason):
        print("refused: \(reason), after \(outcome.history.attempts) attempts")
        return false
    default: return false
    }
}
