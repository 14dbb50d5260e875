import Holdfast

/// Replays a history beside states of the disk, position by position: what is found must be the journal as it was between
/// two steps, none before what was answered, none after what was asked.
///
/// The journal takes requests in order, with one exception: between the commits of a request that takes several, appends go
/// before what is left of it, and before what waits behind it. So a state is two counts, of the steps of requests that may go
/// ahead, and of the steps of those that keep their place. Each of the two is taken in order.
struct Replay {
    private typealias Step = (step: Model.Step, request: Int)

    /// One of the two orders.
    private struct Track {
        var steps: [Step] = []
        /// For each request of the history, and behind the last, how many steps of this track come before it.
        var before: [Int] = []
    }

    private let history: History
    private let ahead: Track
    private let inPlace: Track
    /// What is answered for by the last position.
    private var certain = Model()
    private var certainAhead = 0
    private var certainInPlace = 0
    /// States in which something lay before the end of a request that it has overtaken.
    private(set) var overtaken = 0

    init(_ history: History) {
        self.history = history
        var ahead = Track()
        var inPlace = Track()
        for (index, entry) in history.entries.enumerated() {
            ahead.before.append(ahead.steps.count)
            inPlace.before.append(inPlace.steps.count)
            let steps = Model.steps(of: entry.request).map { step in (step, index) }
            if entry.request.mayOvertake { ahead.steps += steps } else { inPlace.steps += steps }
        }
        ahead.before.append(ahead.steps.count)
        inPlace.before.append(inPlace.steps.count)
        self.ahead = ahead
        self.inPlace = inPlace
    }

    /// - Parameter position: must not fall from call to call.
    mutating func check(_ found: Found, at position: Int) throws {
        advance(to: position)
        try found.checkFigures()
        let asked = (history.entries.lastIndex { entry in entry.askedAt <= position } ?? -1) + 1
        guard let isOvertaken = match(found, asked: asked) else {
            throw Breach(difference(found, position: position, asked: asked))
        }
        if isOvertaken { overtaken += 1 }
        try checkBeside(found, position)
    }

    /// Takes for certain what was answered by `position`, and what that proves of others.
    private mutating func advance(to position: Int) {
        var aheadCount = certainAhead
        var inPlaceCount = certainInPlace
        for (index, entry) in history.entries.enumerated() where entry.answeredAt <= position {
            aheadCount = max(aheadCount, ahead.before[index + 1])
            // What may have gone ahead proves nothing of the rest.
            if !entry.request.mayOvertake { inPlaceCount = max(inPlaceCount, inPlace.before[index + 1]) }
        }
        // What goes ahead never touches an entry that is there, so the order between the two makes no difference here.
        for step in ahead.steps[certainAhead..<aheadCount] { certain.apply(step.step) }
        for step in inPlace.steps[certainInPlace..<inPlaceCount] { certain.apply(step.step) }
        certainAhead = aheadCount
        certainInPlace = inPlaceCount
    }

    /// - Returns: whether something has overtaken another, in the state that is found; nil if it is no state.
    private func match(_ found: Found, asked: Int) -> Bool? {
        var leading = certain
        for aheadCount in certainAhead...ahead.before[asked] {
            if aheadCount > certainAhead { leading.apply(ahead.steps[aheadCount - 1].step) }
            guard leading.nextUID == found.nextUID else { continue }
            var model = leading
            for inPlaceCount in certainInPlace...inPlace.before[asked] {
                if inPlaceCount > certainInPlace { model.apply(inPlace.steps[inPlaceCount - 1].step) }
                guard let isOvertaken = order(aheadCount, inPlaceCount), model.matches(found) else { continue }
                return isOvertaken
            }
        }
        return nil
    }

    /// Whether a commit may end with so many steps of both, and whether something has overtaken another then.
    ///
    /// - Returns: nil if none may.
    private func order(_ aheadCount: Int, _ inPlaceCount: Int) -> Bool? {
        if inPlaceCount > 0 {
            // What keeps its place goes before nothing.
            let last = inPlace.steps[inPlaceCount - 1].request
            guard aheadCount >= ahead.before[last] else { return nil }
        }
        guard aheadCount > 0 else { return false }
        let last = ahead.steps[aheadCount - 1].request
        if inPlaceCount >= inPlace.before[last] { return false }
        // It went ahead: of a request that has begun, takes more than one commit, and was not over when it was made.
        let made = history.entries[last].askedAt
        let begun = (0..<last).contains { request in
            let entry = history.entries[request]
            return entry.request.parts > 1 && inPlace.before[request] < inPlaceCount && entry.answeredAt >= made
        }
        return begun ? true : nil
    }

    /// What is not in the order of the writer's commits: the blacklist, and the marks.
    private func checkBeside(_ found: Found, _ position: Int) throws {
        for blacklisting in history.blacklistings where blacklisting.doneAt <= position {
            try expect(found.blacklist.contains(blacklisting.number), "a blacklisted token is lost")
        }
        let asked = Set(history.blacklistings.filter { $0.askedAt <= position }.map(\.number))
        try expect(found.blacklist.isSubset(of: asked), "a token is blacklisted that nobody has asked for")
        for mark in history.marks where mark.reportedAt <= position {
            let there = found.marks[Int(mark.lane) - 1]
            try expect(there >= mark.mark, "lane \(mark.lane)'s mark was reported as \(mark.mark), and is \(there)")
        }
    }

    private func difference(_ found: Found, position: Int, asked: Int) -> String {
        let model = certain
        let answered = (history.entries.lastIndex { entry in entry.answeredAt <= position } ?? -1) + 1
        let lost = model.rows.keys.filter { uid in found.rows[uid] == nil }.sorted().prefix(5)
        let more = found.rows.keys.filter { uid in model.rows[uid] == nil }.sorted().prefix(5)
        return "what is there is no state between request \(answered) (answered) and \(asked) (asked): next UID "
            + "\(found.nextUID), by the answers \(model.nextUID); rows \(found.rows.count) and \(model.rows.count); "
            + "missing \(Array(lost)), beyond the answers \(Array(more)); totals \(found.totals) and \(model.totals)"
    }
}

extension History.Request {
    /// Whether it may go before the end of an earlier one that takes several commits: it has nothing to do with entries that
    /// are there.
    var mayOvertake: Bool {
        switch self {
        case .openLane, .append, .setNote: true
        case .settle, .promote, .removeRejections: false
        }
    }

    /// Between which a commit may end.
    var parts: Int {
        switch self {
        case .openLane, .append, .setNote: 1
        case .settle(let batch): batch.count
        case .promote(_, now: _, let limit): limit
        case .removeRejections(let uids): uids.count
        }
    }
}
