package import Holdfast

extension JournalKeys {
    /// Whether a key file is a credential of systemd's that this process was not given: it is its service's alone.
    package static func isWithheld(_ file: String) -> Bool { KeyFile.isWithheld(file) }

    /// Reads the key file of a journal. Without one, the error also names the keys that the journal needs.
    ///
    /// - Parameter journal: its directory; nil where nobody knows it.
    package init(file: String, of journal: String?) throws(JournalError) {
        do throws(JournalError) { try self.init(file: file) } catch {
            let needed = journal.map { JournalSeals.idsNeeded(in: $0) } ?? []
            guard let journal, !needed.isEmpty else { throw error }
            let ids = needed.map(\.description).joined(separator: ", ")
            throw JournalError(error.code, "\(error.message); \(journal) is sealed with key \(ids)")
        }
    }
}
