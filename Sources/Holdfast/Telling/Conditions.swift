/// Knows what is wrong: compares what is found at each look with what was there, and says what has begun, changed and ended.
///
/// The log gets one line at the beginning and one at the end. A condition that comes and goes is told once in an interval, and
/// the end is told where the beginning was, so the last line of a condition is always true.
///
/// A pure machine.
package struct Conditions: Sendable {
    /// One change.
    package struct Change: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            case began
            /// It goes on, for another cause or at another stage.
            case changed
            case ended(lasted: Duration)
        }

        package let kind: Kind
        package let condition: HealthCondition
        /// Whether the log has a line of it.
        package let isTold: Bool
        /// Beginnings of the same condition that were not told since the last one that was.
        package let leftOut: Int
    }

    private struct Place: Hashable, Sendable {
        let kind: HealthCondition.Kind
        let subject: String
        let route: String?

        init(_ condition: HealthCondition) {
            (kind, subject, route) = (condition.kind, condition.subject, condition.route)
        }
    }

    private struct Present: Sendable {
        var condition: HealthCondition
        let began: Duration
        /// How long it had been there when it was found.
        let lead: Duration
        var isTold: Bool
    }

    /// The most conditions of a kind that are told in an interval.
    package static let greatestToldOfAKind = 20
    /// Past conditions that are remembered for the sake of the limit.
    private static let greatestRemembered = 1000

    private let interval: Duration
    private var present: [Place: Present] = [:]
    private var told: [Place: (at: Duration, leftOut: Int)] = [:]
    private var toldOfKind: [HealthCondition.Kind: (since: Duration, count: Int)] = [:]

    /// - Parameter interval: the least time between two beginnings of a condition that are told.
    package init(interval: Duration) { self.interval = interval }

    package var isEmpty: Bool { present.isEmpty }

    /// What is wrong now, the worst first.
    package var all: [HealthCondition] { present.values.map(\.condition).sorted(by: HealthCondition.isBefore) }

    /// - Parameter found: everything that is wrong now, each once.
    /// - Returns: what is new, what has changed, and what is over.
    package mutating func look(_ found: [HealthCondition], at now: Moment) -> [Change] {
        guard !found.isEmpty || !present.isEmpty else { return [] }
        var changes: [Change] = []
        var gone = present
        for condition in found {
            let place = Place(condition)
            gone[place] = nil
            if let change = take(condition, at: place, now) { changes.append(change) }
        }
        for (place, old) in gone.sorted(by: { HealthCondition.isBefore($0.value.condition, $1.value.condition) }) {
            present[place] = nil
            changes.append(
                Change(
                    kind: .ended(lasted: now.monotonic - old.began + old.lead), condition: old.condition,
                    isTold: old.isTold, leftOut: 0))
        }
        return changes
    }

    private mutating func take(_ condition: HealthCondition, at place: Place, _ now: Moment) -> Change? {
        guard var old = present[place] else {
            let (isTold, leftOut) = admit(place, now.monotonic)
            present[place] = Present(
                condition: condition, began: now.monotonic, lead: max(now.wall.since(condition.since), .zero),
                isTold: isTold)
            return Change(kind: .began, condition: condition, isTold: isTold, leftOut: leftOut)
        }
        let isOther = condition.cause != old.condition.cause
        var merged = condition
        merged.since = old.condition.since
        merged.affected = max(condition.affected, old.condition.affected)
        merged.failures = max(condition.failures, old.condition.failures)
        old.condition = merged
        defer { present[place] = old }
        guard isOther else { return nil }
        let (isTold, leftOut) = admit(place, now.monotonic)
        old.isTold = old.isTold || isTold
        return Change(kind: .changed, condition: merged, isTold: isTold, leftOut: leftOut)
    }

    private mutating func admit(_ place: Place, _ now: Duration) -> (isTold: Bool, leftOut: Int) {
        let last = told[place]
        if let last, now < last.at + interval {
            told[place]?.leftOut += 1
            return (false, 0)
        }
        var kind = toldOfKind[place.kind] ?? (now, 0)
        if now >= kind.since + interval { kind = (now, 0) }
        kind.count += 1
        toldOfKind[place.kind] = kind
        guard kind.count <= Self.greatestToldOfAKind else { return (false, 0) }
        if told.count >= Self.greatestRemembered { told = told.filter { now < $0.value.at + interval } }
        if told.count < Self.greatestRemembered { told[place] = (now, 0) }
        return (true, last?.leftOut ?? 0)
    }
}
