/// UIDs to send again, ascending, as runs of neighbours: a million of them in a row take as much memory as one.
///
/// A pure machine.
struct RequeuedRuns: Hashable, Sendable {
    struct Run: Hashable, Sendable {
        var first: UInt64
        var last: UInt64
        let possiblySent: Bool

        init(_ uids: ClosedRange<UInt64>, possiblySent: Bool) {
            first = uids.lowerBound
            last = uids.upperBound
            self.possiblySent = possiblySent
        }

        var count: Int { Int(last - first) + 1 }
    }

    private var runs: [Run] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The greatest UID of those that may have been sent.
    var lastPossiblySent: UID? { runs[head...].last(where: \.possiblySent).map { UID($0.last) } }

    /// Whether one of them may have been sent; nil for one that is not among them.
    func possiblySent(_ uid: UID) -> Bool? {
        let place = runs[head...].firstIndex { $0.last >= uid.rawValue }
        guard let place, runs[place].first <= uid.rawValue else { return nil }
        return runs[place].possiblySent
    }

    /// The first of them, ascending.
    func prefix(_ limit: Int) -> [LaneStateMachine.Again] {
        var found: [LaneStateMachine.Again] = []
        for run in runs[head...] where found.count < limit {
            for uid in run.first...run.last {
                if found.count == limit { break }
                found.append(LaneStateMachine.Again(uid: UID(uid), possiblySent: run.possiblySent))
            }
        }
        return found
    }

    mutating func removeFirst(_ number: Int) {
        var rest = number
        while rest > 0, head < runs.count {
            let taken = min(rest, runs[head].count)
            rest -= taken
            count -= taken
            if taken == runs[head].count { head += 1 } else { runs[head].first += UInt64(taken) }
        }
        if head > 64, head * 2 > runs.count {
            runs.removeFirst(head)
            head = 0
        }
    }

    /// Takes out those of `uids` that are among them.
    mutating func remove(_ uids: [UID]) {
        for uid in uids {
            guard let place = runs[head...].firstIndex(where: { $0.last >= uid.rawValue }),
                runs[place].first <= uid.rawValue
            else { continue }
            let run = runs[place]
            var rest: [Run] = []
            if run.first < uid.rawValue {
                rest.append(Run(run.first...(uid.rawValue - 1), possiblySent: run.possiblySent))
            }
            if run.last > uid.rawValue {
                rest.append(Run((uid.rawValue + 1)...run.last, possiblySent: run.possiblySent))
            }
            runs.replaceSubrange(place...place, with: rest)
            count -= 1
        }
    }

    /// Puts runs in their places. What is there already stays once, and stays possibly sent if either says so.
    mutating func insert(_ new: [Run]) {
        guard !new.isEmpty else { return }
        var all = Array(runs[head...])
        let isBehind = all.last.map { last in new.allSatisfy { $0.first > last.last } } ?? true
        all += new
        if !isBehind || new.count > 1 { all.sort { $0.first < $1.first } }
        runs = []
        head = 0
        count = 0
        for run in all { merge(run) }
    }

    /// - Parameter next: begins nowhere before those that came earlier.
    private mutating func merge(_ next: Run) {
        var run = next
        // What lies before the last piece was cut from an overlap, and is possibly sent already.
        if let last = runs.last, run.first < last.first {
            guard run.last >= last.first else { return }
            run.first = last.first
        }
        guard var last = runs.last,
            run.first <= last.last || run.first == last.last + 1 && run.possiblySent == last.possiblySent
        else {
            runs.append(run)
            count += run.count
            return
        }
        if run.possiblySent == last.possiblySent {
            guard run.last > last.last else { return }
            count += Int(run.last - last.last)
            last.last = run.last
            runs[runs.count - 1] = last
        } else {
            overlap(run, last)
        }
    }

    /// Two runs that share UIDs and do not agree: cut, so that each UID is there once and the more careful word holds.
    private mutating func overlap(_ run: Run, _ last: Run) {
        runs.removeLast()
        count -= last.count
        var pieces: [Run] = []
        if last.first < run.first { pieces.append(Run(last.first...(run.first - 1), possiblySent: last.possiblySent)) }
        pieces.append(Run(run.first...min(run.last, last.last), possiblySent: true))
        let end = max(run.last, last.last)
        let shared = min(run.last, last.last)
        if end > shared {
            let longer = run.last > last.last ? run : last
            pieces.append(Run((shared + 1)...end, possiblySent: longer.possiblySent))
        }
        for piece in pieces {
            if let before = runs.last, before.last + 1 == piece.first, before.possiblySent == piece.possiblySent {
                runs[runs.count - 1].last = piece.last
            } else {
                runs.append(piece)
            }
            count += piece.count
        }
    }
}
