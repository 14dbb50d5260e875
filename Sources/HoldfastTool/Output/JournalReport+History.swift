internal import HoldfastControl
internal import HoldfastService

extension HistoryForm {
    /// What can be found in it, for people.
    var words: String {
        guard let oldest = oldestAt else {
            return isKept ? "ended notifications, which can be found" : "none is kept: journal.history is off"
        }
        return "ended since \(oldest.text), which can be found; \(Format.bytes(bytes))"
            + (isKept ? "" : "; none is added: journal.history is off")
    }
}

extension JournalReport {
    /// Readers of outcomes, and how far they are behind; nil when there are none.
    var readersText: String? {
        guard let readers = history?.readers, !readers.isEmpty else { return nil }
        let rows = readers.map { reader in
            [
                "  " + reader.reader.printable(maximumLength: 64), "\(reader.cursor)", Format.count(reader.lag),
                reader.missed.map { Format.count($0) } ?? "",
            ]
        }
        return Columns.text([["  READER OF OUTCOMES", "CURSOR", "LAG", "MISSED"]] + rows, right: [1, 2, 3])
    }
}
