internal import Holdfast

/// How long a part of a file waits that an owner refuses for now: longer with each refusal in one piece, and no longer than until
/// the owner says that there is room. A pure machine; time passes outside of it.
struct RoomWait {
    /// Bounds of the waits. Each is a random one between half of it and all of it, so that many who wait do not ask together.
    static let shortest = Duration.milliseconds(50)
    static let longest = Duration.seconds(5)

    private var refusals = 0
    /// The hindrances that the owner named last; nil where it was not asked since the last refusal.
    private var hindered: Set<HealthCondition.Kind>?
    /// Entries without an end, as the owner said last.
    private var unconfirmed: Int?

    /// A part was refused.
    ///
    /// - Parameter random: uniformly from 0 up to 1.
    /// - Returns: how long to wait.
    mutating func refused(random: Double) -> Duration {
        let bound = min(Self.shortest * (1 << min(refusals, 20)), Self.longest)
        refusals += 1
        (hindered, unconfirmed) = (nil, nil)
        return bound * (0.5 + random / 2)
    }

    mutating func taken() { self = RoomWait() }

    /// - Parameter status: nil when nobody serves the journal.
    /// - Returns: whether there may be room now. A journal at its limit has room when it drains; a disk only when it is told.
    mutating func look(_ status: DeskStatus?) -> Bool {
        guard let status, let conditions = status.conditions else { return false }
        let kinds = Set(conditions.filter { $0.journal == nil }.map(\.kind)).filter(\.countsRefusals)
        let waiting = status.lanes.reduce(0) { $0 + $1.unconfirmed }
        defer { (hindered, unconfirmed) = (kinds, waiting) }
        if let hindered, !hindered.isEmpty, kinds.isEmpty { return true }
        let isDiskWell = kinds.isDisjoint(with: [.diskRefusing, .databaseAway])
        return isDiskWell && unconfirmed.map { waiting < $0 } ?? false
    }
}
