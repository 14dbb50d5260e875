package import Holdfast
package import HoldfastJournal

/// Some entries of a journal, in the order of their UIDs.
package struct EntryPart: Sendable {
    package var entries: [JournalEntry] = []
    /// Everything up to here was looked at; nil at the end.
    package var end: UID?
    /// Those among them whose records can't be read.
    package var unreadable: [UID] = []
    /// Why the first of them can't.
    package var fault: String?

    package init(entries: [JournalEntry] = [], end: UID? = nil, unreadable: [UID] = [], fault: String? = nil) {
        (self.entries, self.end, self.unreadable, self.fault) = (entries, end, unreadable, fault)
    }
}
