/// The Consumers of an engine: who serves which route, and who is about to leave.
///
/// A pure value, kept behind the engine's lock.
struct Roster: Sendable {
    /// A Consumer, and what its connector is given; connectors hold that weakly.
    struct Seat: Sendable {
        let consumer: Consumer
        /// By the newest terms, which the Consumer may not have taken yet.
        var route: Route
        let host: RouteHost
        let lanes: [LaneKey: LaneID]

        init(consumer: Consumer, route: Route, host: RouteHost) {
            self.consumer = consumer
            self.route = route
            self.host = host
            lanes = Dictionary(uniqueKeysWithValues: consumer.lanes.map { ($0.key, $0.id) })
        }

        var number: Int { consumer.index }

        /// The connector may be asked for connections soon.
        func begin() { consumer.connector.begin(ConnectorHost(route: consumer.name, services: host)) }
    }

    enum Departure: Sendable {
        /// This route takes the lanes over.
        case replaced(Route)
        case removed

        var successor: Route? { if case .replaced(let route) = self { route } else { nil } }
    }

    /// A reconfiguration that waits for Consumers to end.
    struct Change: Sendable {
        /// By number of those that are to end.
        var leaving: [Int: Departure]
        let report: Reconfiguration
        let completion: @Sendable (Result<Reconfiguration, any Error>) -> Void
    }

    /// In the order of the routes. Those that are to end keep their seats until they have.
    var seats: [Seat] = []
    /// At most one is under way.
    var change: Change?
    /// Nobody takes a seat any more.
    var isEnding = false
    /// The Consumer that does what one does for all.
    var inCharge = 0
    private var next = 0
    private var seeds: Xoshiro256

    init(seeds: Xoshiro256) { self.seeds = seeds }

    /// For another Consumer: its number, never used twice, and the seed of its jitter.
    mutating func nextNumber() -> (number: Int, seed: UInt64) {
        defer { next += 1 }
        return (next, seeds.next())
    }

    func consumer(_ number: Int) -> Consumer? { seats.first { $0.number == number }?.consumer }

    var laneIDs: [LaneKey: LaneID] {
        seats.reduce(into: [:]) { lanes, seat in lanes.merge(seat.lanes) { first, _ in first } }
    }
}
