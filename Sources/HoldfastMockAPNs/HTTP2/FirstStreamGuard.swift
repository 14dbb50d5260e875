/// Keeps a connection to one stream until the first was answered with 200, see ``MockAPNsConfiguration/FirstStreamRule``.
struct FirstStreamGuard {
    private let isActive: Bool
    /// The stream that is being waited for.
    private var waiting: UInt32?
    private var isAnswered = false
    private var hasSucceeded = false
    /// As it was when the bytes at hand were sent, as far as we can know.
    private var isLifted = false

    init(_ rule: MockAPNsConfiguration.FirstStreamRule) {
        isActive = rule == .refused || rule == .goAway
    }

    /// To be called before what was read is worked off: what came together was sent before the first of it was answered.
    mutating func beginCycle() {
        guard isActive else { return }
        isLifted = hasSucceeded
        if isAnswered { (waiting, isAnswered) = (nil, false) }
    }

    mutating func admits(_ streamID: UInt32) -> Bool {
        guard isActive, !isLifted else { return true }
        guard waiting == nil else { return false }
        waiting = streamID
        return true
    }

    mutating func answered(_ streamID: UInt32, withSuccess isSuccess: Bool) {
        guard isActive else { return }
        if isSuccess { hasSucceeded = true }
        if streamID == waiting { isAnswered = true }
    }
}
