import Holdfast

/// What must hold of a journal after calls have failed, whatever the order of its commits was: the promises, entry by
/// entry.
struct Bounds {
    private let history: History
    private let position: Int
    private var terminalAsked: Set<UInt64> = []
    private var terminalDone: Set<UInt64> = []

    /// - Parameter position: until when things were asked and answered.
    init(_ history: History, at position: Int = .max) {
        self.history = history
        self.position = position
        for entry in history.entries where entry.askedAt <= position {
            let isDone = if case .done = entry.answer(by: position) { true } else { false }
            switch entry.request {
            case .settle(let batch):
                for key in batch.acknowledged { terminal(key.uid.rawValue, isDone) }
                for settlement in batch.others {
                    let uid = settlement.key.uid.rawValue
                    switch settlement.kind {
                    case .deferUntil, .recall, .move: break
                    case .reject, .expire, .unknown, .withdraw, .withdrawSent, .supersede: terminal(uid, isDone)
                    }
                }
            default: break
            }
        }
    }

    private mutating func terminal(_ uid: UInt64, _ isDone: Bool) {
        terminalAsked.insert(uid)
        if isDone { terminalDone.insert(uid) }
    }

    func check(_ found: Found) throws {
        try found.checkFigures()
        let numbers = Set(found.rows.values.map(\.number))
        try expect(numbers.count == found.rows.count, "a notification is there twice")
        for (index, entry) in history.entries.enumerated() {
            guard case .append(let items, _) = entry.request else { continue }
            let there = items.count { item in numbers.contains(item.number) }
            if entry.askedAt > position {
                try expect(there == 0, "request \(index) is there before it was made")
                continue
            }
            switch entry.answer(by: position) {
            case .appended(let first): try check(items, from: first.rawValue, found, index)
            case .failed(let error) where error.code != .undetermined:
                try expect(
                    there == 0, "append \(index) failed (\(error.code)), and \(there) of \(items.count) are there")
            default:
                try expect(
                    there == 0 || there == items.count,
                    "of append \(index), of unknown fate, \(there) of \(items.count) are there")
            }
        }
        for blacklisting in history.blacklistings where blacklisting.doneAt <= position && blacklisting.doneAt < .max {
            try expect(found.blacklist.contains(blacklisting.number), "a blacklisted token is lost")
        }
        let asked = Set(history.blacklistings.filter { $0.askedAt <= position }.map(\.number))
        try expect(found.blacklist.isSubset(of: asked), "a token is blacklisted that nobody has asked for")
    }

    /// What was answered for is there, unless it was settled.
    private func check(_ items: [History.Item], from first: UInt64, _ found: Found, _ index: Int) throws {
        for (offset, item) in items.enumerated() {
            let uid = first + UInt64(offset)
            guard let row = found.rows[uid] else {
                try expect(terminalAsked.contains(uid), "UID \(uid) of append \(index) is lost")
                continue
            }
            try expect(row.number == item.number, "UID \(uid) is another notification")
            if case .rejected = row.place { continue }
            try expect(!terminalDone.contains(uid), "UID \(uid) was settled, and is back")
        }
    }
}
