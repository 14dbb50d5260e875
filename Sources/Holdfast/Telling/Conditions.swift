/// Knows what is wrong: compares what is found at each look with what was there, and says what has begun, changed and ended.
///
/// The log gets one line at the beginning and one at the end. A condition that comes and goes is told once in an interval, and
/// its end where its beginning was told. What is held back is made up for when the interval is over, if it still holds. So the
/// last line of a condition is false for an interval at most.
///
/// A pure machine: whoever has it looks again at ``nextTelling``.
package struct Conditions: Sendable {
    /// One change.
    package struct Change: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            case began
            /// It goes on, for another cause, at another stage, or worse than it was.
            case changed
            case ended(lasted: Duration)
        }

        package let kind: Kind
        package let condition: HealthCondition
        /// Whether the log has a line of it.
        package let isTold: Bool
        /// Beginnings and changes of the same condition that were not told since the last one that was.
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

    /// What the log says of a condition that holds.
    private struct Word: Sendable {
        let cause: String
        let severity: HealthCondition.Severity

        init(_ condition: HealthCondition) { (cause, severity) = (condition.cause, condition.severity) }

        /// Whether the log should hear of this.
        func isOutdated(by condition: HealthCondition) -> Bool {
            condition.cause != cause || condition.severity > severity
        }
    }

    private struct Present: Sendable {
        var condition: HealthCondition
        let began: Duration
        /// How long it had been there when it was found.
        let lead: Duration
        /// The log's last word; nil where it does not say that the condition holds.
        var word: Word?
        /// The most that it has ever affected at once.
        var affected: Int

        var isOwed: Bool { word?.isOutdated(by: condition) ?? true }

        /// When it began, by the present clock: after a step of the clock, the time by the clock before would be a false one.
        func since(at now: Moment) -> WallTime {
            let began = now.wall.advanced(by: .zero - (now.monotonic - began + lead))
            let difference = began.since(condition.since)
            return difference > Conditions.slewing || difference < .zero - Conditions.slewing ? began : condition.since
        }
    }

    /// The end of a condition of which the log says that it holds.
    private struct End: Sendable {
        let change: Change
        let word: Word
    }

    /// How far a clock may go off by being slewed, without a step.
    private static let slewing = Duration.seconds(60)
    /// Past conditions that are remembered for the sake of the limit.
    private static let greatestRemembered = 1000

    private let interval: Duration
    private var present: [Place: Present] = [:]
    private var owedEnds: [Place: End] = [:]
    private var told: [Place: (at: Duration, leftOut: Int)] = [:]
    private var beginnings: KindLimit
    private var ends: KindLimit

    /// When something that is held back now may be told; nil where nothing is.
    package private(set) var nextTelling: Duration?

    /// - Parameter interval: the least time between two beginnings of a condition that are told.
    package init(interval: Duration) {
        self.interval = interval
        beginnings = KindLimit(interval: interval)
        ends = beginnings
    }

    /// Whether nothing is wrong, and the log knows.
    package var isEmpty: Bool { present.isEmpty && owedEnds.isEmpty }

    /// What is wrong now, the worst first.
    package var all: [HealthCondition] { present.values.map(\.condition).sorted(by: HealthCondition.isBefore) }

    /// - Parameter found: everything that is wrong now, each once.
    /// - Returns: what is new, what has changed, what is over, and what was held back and is told now.
    package mutating func look(_ found: [HealthCondition], at now: Moment) -> [Change] {
        guard !found.isEmpty || !isEmpty else { return [] }
        var changes: [Change] = []
        var gone = present
        for condition in found {
            let place = Place(condition)
            gone[place] = nil
            if let change = take(condition, at: place, now) { changes.append(change) }
        }
        changes += owedEndsToTell(now.monotonic)
        for (place, old) in gone.sorted(by: { HealthCondition.isBefore($0.value.condition, $1.value.condition) }) {
            present[place] = nil
            changes.append(end(old, at: place, now.monotonic))
        }
        nextTelling = earliestTelling
        return changes
    }

    // MARK: Beginnings and changes

    private mutating func take(_ condition: HealthCondition, at place: Place, _ now: Moment) -> Change? {
        guard var old = present[place] else { return begin(condition, at: place, now) }
        let isNews = Word(old.condition).isOutdated(by: condition)
        var merged = condition
        merged.since = old.since(at: now)
        old.affected = max(condition.affected, old.affected)
        merged.failures = max(condition.failures, old.condition.failures)
        old.condition = merged
        defer { present[place] = old }
        let leftOut = old.isOwed ? admit(place, isNews: isNews, now.monotonic) : nil
        guard isNews || leftOut != nil else { return nil }
        let kind: Change.Kind = old.word == nil ? .began : .changed
        if leftOut != nil { old.word = Word(condition) }
        return Change(kind: kind, condition: merged, isTold: leftOut != nil, leftOut: leftOut ?? 0)
    }

    private mutating func begin(_ condition: HealthCondition, at place: Place, _ now: Moment) -> Change {
        // Where its last end was not told, the log says that it holds.
        let word = owedEnds.removeValue(forKey: place)?.word
        let lead = max(now.wall.since(condition.since), .zero)
        var new = Present(
            condition: condition, began: now.monotonic, lead: lead, word: word, affected: condition.affected)
        let leftOut = new.isOwed ? admit(place, isNews: true, now.monotonic) : nil
        if leftOut != nil { new.word = Word(condition) }
        present[place] = new
        return Change(kind: .began, condition: condition, isTold: leftOut != nil, leftOut: leftOut ?? 0)
    }

    /// - Parameter isNews: whether it is for the first time that this would be told.
    /// - Returns: how many were left out before it; nil where it is held back.
    private mutating func admit(_ place: Place, isNews: Bool, _ now: Duration) -> Int? {
        let last = told[place]
        guard last.map({ now >= $0.at + interval }) ?? true, beginnings.take(place.kind, at: now) else {
            if isNews { told[place]?.leftOut += 1 }
            return nil
        }
        if told.count >= Self.greatestRemembered { told = told.filter { now < $0.value.at + interval } }
        if told.count < Self.greatestRemembered { told[place] = (now, 0) }
        // One that was held back itself is not left out.
        return max((last?.leftOut ?? 0) - (isNews ? 0 : 1), 0)
    }

    // MARK: Ends

    private mutating func end(_ old: Present, at place: Place, _ now: Duration) -> Change {
        let lasted = now - old.began + old.lead
        var condition = old.condition
        condition.affected = old.affected
        func change(isTold: Bool) -> Change {
            Change(kind: .ended(lasted: lasted), condition: condition, isTold: isTold, leftOut: 0)
        }
        guard let word = old.word else { return change(isTold: false) }
        let isTold = ends.take(place.kind, at: now)
        if !isTold { owedEnds[place] = End(change: change(isTold: true), word: word) }
        return change(isTold: isTold)
    }

    private mutating func owedEndsToTell(_ now: Duration) -> [Change] {
        var changes: [Change] = []
        let owed = owedEnds.sorted {
            HealthCondition.isBefore($0.value.change.condition, $1.value.change.condition)
        }
        for (place, end) in owed where ends.take(place.kind, at: now) {
            owedEnds[place] = nil
            changes.append(end.change)
        }
        return changes
    }

    private var earliestTelling: Duration? {
        let begun = present.compactMap { place, present -> Duration? in
            guard present.isOwed else { return nil }
            return max(told[place].map { $0.at + interval } ?? .zero, beginnings.freeAt(place.kind) ?? .zero)
        }
        return (begun + owedEnds.keys.map { ends.freeAt($0.kind) ?? .zero }).min()
    }
}
