/// One connection of a route, with what is in flight on it.
final class Link {
    /// Nil once it has ended; the link stays until everything in flight is settled.
    var connection: (any Connection)?
    let flights: Flights
    /// The most entries that it takes at a time.
    private(set) var capacity = 1
    /// The number of entries that the service works on at a time.
    private(set) var streams = 1
    /// It has said that it takes nothing more.
    var isDraining = false
    /// It was told to end.
    var isClosing = false
    /// It took hand-outs when it said that it takes no more.
    var leavesByItself = false
    /// Nothing goes to it before.
    var pausedUntil: Duration?

    init(_ connection: any Connection, mode: ConfirmationMode, barrierIdle: Duration) {
        self.connection = connection
        guard case .cumulative(let quietPeriod) = mode else {
            flights = Flights()
            capacityChanged(connection.capacity)
            return
        }
        guard connection is any CumulativeConnection else {
            preconditionFailure("a connector with cumulative confirmation makes CumulativeConnections")
        }
        flights = Flights(CumulativeFlights(quietPeriod: quietPeriod, barrierIdle: barrierIdle))
        capacityChanged(connection.capacity)
    }

    /// For settlements that no connection has to do with.
    init() { flights = Flights() }

    /// Nil for one that has ended, and where each notification has its own answer.
    var cumulativeConnection: (any CumulativeConnection)? { connection as? any CumulativeConnection }

    func capacityChanged(_ capacity: Int) {
        self.capacity = max(capacity, 1)
        streams = max(min(connection?.streams ?? capacity, self.capacity), 1)
    }

    /// Entries in flight.
    var count: Int { flights.count }

    /// Entries that the service would work on at once; what goes beyond waits in the connection.
    var freeStreams: Int { max(streams - flights.load, 0) }

    /// Nothing was taken on it yet. APNs has one request under way until it has taken one: what waited in the connection would
    /// wait for a first request that is refused late, or gets no answer. So nothing does.
    var isUnproven: Bool { flights.cumulative == nil && flights.confirmations == 0 }

    /// The entries without an answer: those that the service works on, and those that wait in the connection.
    var unanswered: (open: ArraySlice<SentWindow.Flight>, waiting: ArraySlice<SentWindow.Flight>) {
        flights.window.flights(onStreams: streams)
    }

    /// Whether the next entries should rather go to this one: the service's streams before queues, then the lesser load for
    /// its size, then the fewer entries ever.
    func isBetter(than other: Link) -> Bool {
        if (freeStreams > 0) != (other.freeStreams > 0) { return freeStreams > 0 }
        let (mine, others) = (flights.load * other.streams, other.flights.load * streams)
        if mine != others { return mine < others }
        let (room, otherRoom) = (capacity - flights.load - count, other.capacity - other.flights.load - other.count)
        if flights.cumulative != nil, room != otherRoom { return room > otherRoom }
        return flights.handOuts < other.flights.handOuts
    }

    /// Whether hand-outs may go to it now.
    var isOpen: Bool { connection != nil && pausedUntil == nil }

    var isOver: Bool { connection == nil && count == 0 }

    /// When to look at it again; nil while only its connection can bring more.
    var nextLook: Duration? {
        guard connection != nil else { return nil }
        return [pausedUntil, flights.cumulative?.nextLook].compactMap { $0 }.min()
    }
}
