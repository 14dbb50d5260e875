internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// How far back the history of a journal reaches, in words.
enum HistoryWords {
    /// What ends while the history is off is missing from what was printed.
    static func sayOff() {
        Console.standard.note(
            "nothing is added to the history, since journal.history is off: what has ended since then is not here, "
                + "and only rejections can be found")
    }

    /// What damage hid from a search.
    static func sayUnreadable(_ count: Int) {
        Console.standard.warning(
            "\(Format.plural(count, "outcome")) of the history could not be looked at, since the journal is damaged: "
                + "`holdfast journal verify` says where")
    }

    static func extent(of status: OutcomeLogStatus, now: WallTime = EngineClock.system.wall()) -> String {
        guard let oldest = status.oldestAt else {
            return status.isKept
                ? "its history is empty, since nothing has ended"
                : "it keeps no history (journal.history is off), so of what has ended only rejections are known"
        }
        let count = Format.plural(status.count, "notification")
        return "its history has \(count), the oldest of which ended at \(EntryExplanation.time(oldest, now))"
            + (status.lost > 0 ? "; \(Format.count(status.lost)) more are lost by damage" : "")
            + (status.isKept ? "" : "; nothing is added, since journal.history is off")
    }
}
