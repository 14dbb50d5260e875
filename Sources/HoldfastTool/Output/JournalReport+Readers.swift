internal import HoldfastControl
internal import HoldfastService

/// The readers of outcomes, as text.
extension JournalReport {
    var readersText: String? {
        guard let readers = history?.readers, !readers.isEmpty else { return nil }
        let rows = readers.map { reader in
            // The process knows better how far its own have come: not everything is written to disk at once.
            let own = ownReaders?.first { $0.reader == reader.reader }
            return [
                "  " + reader.reader.printable(maximumLength: 64), "\(reader.cursor)",
                Format.count(own?.unread ?? reader.lag), reader.missed.map { Format.count($0) } ?? "",
            ]
        }
        return Columns.text([["  READER OF OUTCOMES", "CURSOR", "LAG", "MISSED"]] + rows, right: [1, 2, 3])
    }

    /// What keeps webhooks from telling, and what they have passed over.
    var troublesText: String? {
        let lines = (ownReaders ?? []).flatMap { reader in
            [reader.trouble, reader.notice].compactMap(\.self).map {
                "\(reader.reader.printable(maximumLength: 64)): \($0.printable(maximumLength: 512))"
            }
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }
}
