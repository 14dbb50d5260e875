/// The Consumers of an engine, with their routes, and the reconfiguration in progress.
///
/// A pure value, kept behind the engine's lock.
struct ConsumerRegistry: Sendable {
    /// A Consumer with its route, and the host of its connector, which connectors hold weakly.
    struct Registration: Sendable {
        let consumer: Consumer
        /// The route with its newest terms, which may not have reached the Consumer yet.
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

        /// Tells the connector that connections may be requested soon.
        func begin() { consumer.connector.begin(ConnectorHost(route: consumer.name, services: host)) }
    }

    enum Departure: Sendable {
        /// A route with another connector takes over the lanes.
        case replaced(Route)
        case removed

        var successor: Route? { if case .replaced(let route) = self { route } else { nil } }
    }

    /// A reconfiguration that waits for Consumers to end.
    struct Change: Sendable {
        /// The Consumers that are to end, by number.
        var leaving: [Int: Departure]
        let report: Reconfiguration
        let completion: @Sendable (Result<Reconfiguration, any Error>) -> Void
    }

    /// The registered Consumers, in the order of the routes. Ending ones stay registered until they have ended.
    var registrations: [Registration] = []
    /// The reconfiguration in progress; at most one.
    var change: Change?
    /// Whether the engine ends, so that no Consumer is registered any more.
    var isEnding = false
    /// The number of the Consumer that does housekeeping and the periodic report for all.
    var inCharge = 0
    private var next = 0
    private var seeds: Xoshiro256

    init(seeds: Xoshiro256) { self.seeds = seeds }

    /// The number of another Consumer, never reused, and the seed of its jitter.
    mutating func nextNumber() -> (number: Int, seed: UInt64) {
        defer { next += 1 }
        return (next, seeds.next())
    }

    func consumer(_ number: Int) -> Consumer? { registrations.first { $0.number == number }?.consumer }

    var laneIDs: [LaneKey: LaneID] {
        registrations.reduce(into: [:]) { lanes, registration in lanes.merge(registration.lanes) { first, _ in first } }
    }
}
