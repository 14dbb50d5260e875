/// Shares a route's places between its lanes, so that no order of lanes starves one.
///
/// Start-time fair queuing: each lane has a virtual time that advances by what it was given, the more slowly the greater
/// its weight; the lane that is furthest behind is served next. A lane that had nothing to send, or could not take
/// anything, saves nothing up: it goes on from where the others are.
///
/// A pure machine.
struct LaneShare: Sendable {
    /// Places for immediate lanes for each one of a considerate lane, while both have something to send.
    static let immediateWeight = 16

    /// By lane: places of each round.
    private let weights: [Int]
    /// By lane: virtual time. One place of a lane of weight 1 is as much as ``immediateWeight`` places of an immediate one.
    private var times: [Int]
    /// The virtual time of the lane that was served last, when it was served.
    private var now = 0

    init(_ urgencies: [Urgency]) {
        weights = urgencies.map { $0 == .immediate ? Self.immediateWeight : 1 }
        times = urgencies.map { _ in 0 }
    }

    /// The lane to serve next.
    ///
    /// - Parameter lanes: those that have something to send and can take places, the more urgent first.
    mutating func next(of lanes: [Int]) -> Int? {
        for lane in lanes { times[lane] = max(times[lane], now) }
        return lanes.min { times[$0] < times[$1] }
    }

    /// Whether the lane has had more than its share, beside others that want places.
    func isAhead(_ lane: Int, of others: [Int]) -> Bool {
        others.contains { max(times[$0], now) < max(times[lane], now) }
    }

    /// The number of `room` places for the lane at a time: all if it is alone, else its part by weight, at least one.
    func part(of lane: Int, among lanes: [Int], room: Int) -> Int {
        guard lanes.count > 1, room > 1 else { return room }
        let all = lanes.reduce(0) { $0 + weights[$1] }
        return min(max((room * weights[lane] + all - 1) / all, 1), room)
    }

    /// The lane was served, and took so many places. Where it took none, its turn is yet to come: so it is while the route's
    /// rate lets fewer go at a time than there are lanes.
    mutating func took(_ count: Int, lane: Int) {
        guard count > 0 else { return }
        now = max(now, times[lane])
        charge(count, to: lane)
    }

    /// The lane has so many places that it was given out of its turn.
    mutating func charge(_ count: Int, to lane: Int) {
        times[lane] = max(times[lane], now) + count * (Self.immediateWeight / weights[lane])
    }
}
