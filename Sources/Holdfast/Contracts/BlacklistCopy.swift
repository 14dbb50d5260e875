/// A blacklist that is a copy of one that lies elsewhere, such as in a database that hosts share.
///
/// It takes rows as they are there, with their numbers. The additions of a ``BlacklistStorage`` are not for it.
package protocol BlacklistCopy: BlacklistStorage {
    /// Says how far the copy has come, in the words of whoever fills it. nil for a new copy, and for one whose mark is damaged.
    var mark: [UInt8]? { get }

    /// Puts rows and the mark in one commit, durable on return. Rows that are there already change nothing.
    ///
    /// - Parameter mark: nil leaves the one before.
    func replace(_ rows: [BlacklistRow], mark: [UInt8]?) throws(JournalError)

    /// Why nothing can be put into the copy any more: its file is gone, or a commit of it has failed. `nil` while it takes rows.
    /// Not for one that is closed.
    var ending: JournalError? { get }

    /// Lets another copy be made in the place of this one, which takes nothing more. Look-ups find what it has until it is closed.
    func giveUp()

    /// Writes what waits, and closes the copy.
    func close()
}

/// The state of one scope of a recipient.
package struct BlacklistRow: Hashable, Sendable {
    package var key: BlacklistKey
    /// nil where there is no entry.
    package var entry: BlacklistEntry?

    /// - Parameter key: with a scope, which is the entry's.
    package init(_ key: BlacklistKey, _ entry: BlacklistEntry?) {
        self.key = key
        self.entry = entry
    }
}
