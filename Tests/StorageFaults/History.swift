import Holdfast

/// What was asked of a journal, in the order of the asking, what was answered, and when: in events of the recorder.
struct History: Sendable {
    struct Item: Sendable {
        let lane: UInt32
        /// No other item has it.
        let number: Int
    }

    enum Request: Sendable {
        case openLane(LaneKey)
        case append([Item], note: (name: String, value: [UInt8])?)
        case settle(SettlementBatch)
        case promote(UInt32, now: Int64, limit: Int)
        case setNote(String, [UInt8]?)
        case removeRejections([UID])
    }

    enum Answer: Sendable {
        case done
        case appended(UID)
        case failed(JournalError)
    }

    struct Entry: Sendable {
        let request: Request
        let askedAt: Int
        var answeredAt = Int.max
        var answer: Answer?

        /// What was answered by `position`.
        func answer(by position: Int) -> Answer? { answeredAt <= position ? answer : nil }
    }

    struct Blacklisting: Sendable {
        let number: Int
        let askedAt: Int
        var doneAt = Int.max
    }

    struct Mark: Sendable {
        let lane: UInt32
        let mark: UInt64
        let reportedAt: Int
    }

    var entries: [Entry] = []
    var blacklistings: [Blacklisting] = []
    var marks: [Mark] = []
    /// Entries that were appended and answered for, for the workload to settle.
    var known: [(uid: UID, item: Item)] = []
    var rejected: [UID] = []
    var unanswered = 0
    var errors: [JournalError] = []
    /// How many requests were answered before an earlier one that takes several commits.
    var overtakings = 0
    /// Requests that keep their place and are not answered.
    var inPlace: Set<Int> = []
    var nextNumber = 1

    /// Of everything that was ever answered for by `position`.
    func greatestUID(by position: Int) -> UInt64 {
        var greatest: UInt64 = 0
        for entry in entries {
            guard case .appended(let first) = entry.answer(by: position), case .append(let items, _) = entry.request
            else {
                continue
            }
            greatest = max(greatest, first.rawValue + UInt64(max(items.count, 1)) - 1)
        }
        return greatest
    }
}
