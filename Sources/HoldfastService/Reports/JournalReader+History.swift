package import Holdfast
package import HoldfastJournal

extension JournalReader {
    /// The bounds of the history, and its readers.
    package func history() throws(JournalError) -> OutcomeLogStatus {
        let readers = try outcomeReaders()
        let isOn = try note(OutcomeKeeping.noteName) != nil
        return try reading.status(isKept: isOn, readers: readers)
    }

    /// Reads outcomes in their order.
    package var reading: OutcomeLogReading {
        OutcomeLogReading(
            log: { () throws(JournalError) in try self.outcomeLog() },
            page: { (after, limit) throws(JournalError) in try self.outcomes(after: after, limit: limit) },
            keeping: { () throws(JournalError) in
                try OutcomeKeeping.Standing { (name) throws(JournalError) in try self.note(name) }
            })
    }
}
