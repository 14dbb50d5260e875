/// A journal that nobody serves, and that nobody takes over: it was delivered to the end, or nobody has taken it yet.
package struct ClosedJournal: Hashable, Sendable {
    package let journal: ListedJournal
    /// How long it has had no owner, by the database's clock; nil where that is not known.
    package let seconds: Int?
    /// When a host accepted what it may lack; nil where nothing is known to be lost.
    package let loss: LossWindow?

    package init(_ journal: ListedJournal, seconds: Int?, loss: LossWindow? = nil) {
        (self.journal, self.seconds, self.loss) = (journal, seconds, loss)
    }

    /// A sentence: who delivered it, how long ago, and where its outcomes are.
    package var words: String {
        guard let host = journal.host else {
            return "journal \(journal.name) was not taken by a host yet, and has nothing"
        }
        let all = loss.map { "all of it that the database has\(ago) (\($0.warning))" } ?? "all of it\(ago)"
        return "journal \(journal.name) is closed: host \(host) has delivered \(all), and nobody serves it. \(place)"
    }

    /// In a list of journals that were left out.
    package var shortWords: String {
        guard let host = journal.host else { return "it was not taken by a host yet, and has nothing" }
        let end = loss.map { "delivered as far as the database has it: \($0.warning)" } ?? "delivered to the end"
        return "it was closed by host \(host)\(ago), \(end). \(place)"
    }

    private var place: String {
        "How its notifications ended is in the copy on that host, as long as the history is kept: run there `\(command)`, where "
            + "COPIES is its journal.path. Without that copy, a host that is started with `journal.host: \(journal.name)` takes "
            + "the journal from the database again, with its history"
    }

    private var ago: String {
        guard let seconds else { return "" }
        let words =
            seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
        return " \(words) ago"
    }

    /// By which its outcomes are found, on the host that had it last.
    package var command: String { "holdfast journal find --journal COPIES/\(journal.id).journal" }
}
