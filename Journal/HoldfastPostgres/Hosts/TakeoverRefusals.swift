internal import Holdfast

/// The journals of lost hosts that this host can't open, and when it tries each again. It has no clock.
///
/// Each try makes a copy and gives it up. So the pauses between tries grow, and what is wrong is told as one trouble.
package struct TakeoverRefusals: Sendable {
    /// A journal that is not taken over.
    package struct Refusal: Hashable, Sendable {
        package enum Cause: Hashable, Sendable {
            /// This host lacks the key.
            case keys
            /// The database refuses this host what the opening needs, such as sessions.
            case database
            case other
        }

        package let journal: String
        /// In whole sentences.
        package let why: String
        package let cause: Cause

        package init(journal: String, why: String, cause: Cause = .keys) {
            (self.journal, self.why, self.cause) = (journal, why, cause)
        }
    }

    private struct Entry {
        var refusal: Refusal
        var failures = 0
        var pauseEnd: Duration
        /// When it was last seen without an owner, or with this host as its owner.
        var lastLeft: Duration
    }

    /// From a try to the next. Longer than two looks of another host, which may be able to open it.
    package static let firstPause = Duration.seconds(5)
    package static let greatestPause = Duration.seconds(60)
    /// How long another host must have a journal before that is no try of it.
    package static let patience = Duration.seconds(30)

    private var entries: [Int32: Entry] = [:]

    package init() {}

    /// All of them, in the order of their names.
    package var all: [Refusal] { pauses(at: .zero).map(\.refusal) }

    /// The same, with how long each is not tried yet; zero while it is tried.
    package func pauses(at now: Duration) -> [(refusal: Refusal, pause: Duration)] {
        entries.values.map { ($0.refusal, max($0.pauseEnd - now, .zero)) }
            .sorted { $0.refusal.journal < $1.refusal.journal }
    }

    package func contains(_ journal: Int32) -> Bool { entries[journal] != nil }

    /// The journals whose next try has not come yet.
    package func paused(at now: Duration) -> Set<Int32> { Set(entries.filter { now < $0.value.pauseEnd }.keys) }

    /// A journal was taken, and given back since it can't be opened.
    ///
    /// - Returns: whether it is the first time, or for another reason than before.
    package mutating func refused(_ journal: Int32, _ refusal: Refusal, at now: Duration) -> Bool {
        var entry = entries[journal] ?? Entry(refusal: refusal, pauseEnd: now, lastLeft: now)
        let isNew = entry.failures == 0 || entry.refusal != refusal
        entry.refusal = refusal
        entry.pauseEnd = now + min(Self.firstPause * (1 << min(entry.failures, 8)), Self.greatestPause)
        entry.lastLeft = now
        entry.failures += 1
        entries[journal] = entry
        return isNew
    }

    /// A journal that was taken is open.
    package mutating func opened(_ journal: Int32) { entries[journal] = nil }

    /// This host's keys may be others than before.
    package mutating func tryNow() { for journal in entries.keys { entries[journal]?.pauseEnd = .zero } }

    /// All journals were looked at: one that is gone, closed, or another host's for a while is not this host's any more.
    package mutating func looked(_ journals: [ListedJournal], mine: Set<Int32>, at now: Duration) {
        var next: [Int32: Entry] = [:]
        for journal in journals {
            guard var entry = entries[journal.id], !(journal.isClosed && journal.sighting.isFree) else { continue }
            if journal.sighting.isFree || mine.contains(journal.id) { entry.lastLeft = now }
            if now - entry.lastLeft <= Self.patience { next[journal.id] = entry }
        }
        entries = next
    }
}
