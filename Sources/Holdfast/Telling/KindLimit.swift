/// The limit of the lines that conditions of one kind may have in an interval.
///
/// A pure machine.
struct KindLimit: Sendable {
    /// The most lines of a kind in an interval.
    static let greatest = 20

    private let interval: Duration
    private var taken: [HealthCondition.Kind: (since: Duration, count: Int)] = [:]

    init(interval: Duration) { self.interval = interval }

    /// When there is room again for a kind; nil where there is.
    func freeAt(_ kind: HealthCondition.Kind) -> Duration? {
        taken[kind].flatMap { $0.count < Self.greatest ? nil : $0.since + interval }
    }

    /// - Returns: whether there was room for one more line.
    mutating func take(_ kind: HealthCondition.Kind, at now: Duration) -> Bool {
        var own = taken[kind] ?? (now, 0)
        if now >= own.since + interval { own = (now, 0) }
        guard own.count < Self.greatest else { return false }
        taken[kind] = (own.since, own.count + 1)
        return true
    }
}
