/// Keeps what is in flight, together with the outcomes that wait to be taken, below the limit on outcomes: each entry in
/// flight may bring one. All routes draw on it.
final class OutcomeGate: Sendable {
    /// Nil when outcomes are not kept: then there is always room.
    let limit: Int?
    /// By route: in flight, or about to be.
    private let reserved = Monitor<[Int: Int]>([:])

    init(limit: Int?) { self.limit = limit }

    /// Asks for room beside what the route has in flight.
    ///
    /// - Parameter waiting: outcomes that wait to be taken.
    /// - Returns: how many more may go in flight, at most `wanted`.
    func reserve(_ wanted: Int, route: Int, inFlight: Int, waiting: Int) -> Int {
        guard let limit else { return wanted }
        return reserved.withLock { reserved in
            reserved[route] = inFlight
            let taken = reserved.values.reduce(0, +)
            let granted = max(0, min(wanted, limit - waiting - taken))
            reserved[route] = inFlight + granted
            return granted
        }
    }

    /// What the route has in flight after all.
    func settle(route: Int, inFlight: Int) {
        guard limit != nil else { return }
        reserved.withLock { $0[route] = inFlight }
    }
}
