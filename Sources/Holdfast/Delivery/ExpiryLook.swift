/// Counts what looks expired while the clock is doubted, so that somebody sets it right before that ends as expired.
///
/// A hand-out meets it, and has it wait. What can't go now, because the service is away or the lane is paused, no hand-out
/// meets: so the first entries of each lane are looked at as soon as the clock is doubted.
final class ExpiryLook {
    /// The most entries of a lane that are looked at: enough to know that there are any, and read in milliseconds.
    static let greatestPerLane = 1000
    /// From one look to the next while any looks expired: it may have been withdrawn.
    private static let interval = Duration.seconds(10)

    private let context: RouteContext
    private let lanes: LaneTable
    private let judge: RouteJudge
    private let shutdown: Shutdown
    private let clockTrust: ClockTrust
    /// When the lanes are to be looked at; nil for never.
    private var due: Duration?
    /// The entries that looked expired at the last look at the lanes.
    private var found = ClockTrust.Held()
    /// The entries that ``clockTrust`` knows of, so that it is told of changes only.
    private var told = ClockTrust.Held()

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ judge: RouteJudge, _ shutdown: Shutdown, _ clockTrust: ClockTrust
    ) {
        self.context = context
        self.lanes = lanes
        self.judge = judge
        self.shutdown = shutdown
        self.clockTrust = clockTrust
    }

    /// A read that failed, here or elsewhere, is tried again with the others.
    var nextLook: Duration? { due.map { max($0, context.holds.readAgainAt ?? .zero) } }

    /// The opinion of the clock has changed.
    func opinionChanged() { (due, found) = (judge.clock.distrustedUntil.map { _ in .zero }, ClockTrust.Held()) }

    /// Looks if it is time to, and tells how many wait for the clock.
    func look(at now: Moment) {
        if let nextLook, nextLook <= now.monotonic {
            do throws(JournalError) {
                found = try expired(at: now.wall)
                due = found.count > 0 ? now.monotonic + Self.interval : nil
            } catch {
                shutdown.readFailed(error, now: now.monotonic)
            }
        }
        tell()
    }

    private func expired(at wall: WallTime) throws(JournalError) -> ClockTrust.Held {
        var all = ClockTrust.Held()
        for index in lanes.indices { all += try expired(in: lanes[index].id, wall: wall) }
        return all
    }

    private func expired(in lane: LaneID, wall: WallTime) throws(JournalError) -> ClockTrust.Held {
        var held = ClockTrust.Held()
        var (last, count) = (UID.none, 0)
        while count < Self.greatestPerLane {
            let batch = try context.journal.unconfirmed(
                lane, after: last, through: .max, limit: Self.greatestPerLane - count)
            guard let end = batch.lastUID else { return held }
            // What can't be read is met by the hand-out.
            held.count += batch.items.indices.count { (try? batch.fields(at: $0))?.isExpired(at: wall) == true }
            (last, count) = (end, count + batch.wholeCount)
        }
        held.isAtLeast = held.count > 0
        return held
    }

    private func tell() {
        var held = found
        held.count = max(held.count, judge.clockHold.count)
        // Some may have been withdrawn since.
        if held.count > 0 { held.count = min(held.count, lanes.reduce(0) { $0 + context.journal.depth($1.id) }) }
        guard held != told else { return }
        told = held
        if clockTrust.holds(held, ofRoute: context.index) { context.teller.observer.engine.conditions.lookSoon() }
    }
}
