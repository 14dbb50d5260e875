/// Slows down who guesses the operators' token: so many wrong ones in a minute, of one address and of all. Pure: who asks
/// brings the time.
struct SignInLimit: Sendable {
    static let period = Duration.seconds(60)
    /// Of one address.
    static let mostOfOne = 5
    /// Of all together, also a bound of what is remembered.
    static let mostOfAll = 60

    private var wrong: [(address: String, at: ContinuousClock.Instant)] = []

    /// How long an address has to wait before it may present another token; nil for not at all.
    mutating func wait(_ address: String, at now: ContinuousClock.Instant) -> Duration? {
        wrong.removeAll { now - $0.at >= Self.period }
        let own = wrong.filter { $0.address == address }
        let oldest: ContinuousClock.Instant? =
            own.count >= Self.mostOfOne
            ? own[own.count - Self.mostOfOne].at : wrong.count >= Self.mostOfAll ? wrong.first?.at : nil
        return oldest.map { Self.period - (now - $0) }
    }

    mutating func wasWrong(_ address: String, at now: ContinuousClock.Instant) { wrong.append((address, now)) }
}
