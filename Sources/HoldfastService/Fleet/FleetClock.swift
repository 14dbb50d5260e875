internal import Holdfast

/// How this machine's wall clock stands to the database's. Nothing is decided by it alone: nobody knows which of the two is wrong.
struct FleetClock: Hashable, Sendable {
    /// From which on the clocks differ: services that are told the time by tokens grant an hour, or some minutes.
    static let greatestOffset = Duration.seconds(300)

    /// By how much this machine's is ahead; nil while that is not known.
    let offset: Duration?

    /// Whether one of the two is wrong.
    var isOff: Bool { offset.map { max($0, .zero - $0) >= Self.greatestOffset } ?? false }

    /// For people; nil while the clocks agree.
    var words: String? {
        guard isOff, let offset else { return nil }
        let size = Format.span(max(offset, .zero - offset))
        return "this machine's clock is \(size) \(offset > .zero ? "ahead of" : "behind") the database's"
    }

    func condition(now: WallTime) -> HealthCondition? {
        guard let words else { return nil }
        return HealthCondition(
            .clockDistrusted, .warning, "clock", "database", since: now,
            what: "\(words): push services refuse tokens that a wrong clock has dated, and expirations go by it",
            next: "see which of the two is wrong, and set it right", command: "timedatectl")
    }
}
