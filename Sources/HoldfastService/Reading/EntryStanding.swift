package import Holdfast
package import HoldfastJournal

/// Where an entry stands, with what explains it.
package struct EntryStanding: Hashable, Sendable {
    /// Nil where the journal knows nothing of it.
    package var fate: EntryFate?
    /// Of a rejection that is kept.
    package var cause: RejectionCause?
    /// Of one that waits for its topic.
    package var topic: String?

    package init(_ fate: EntryFate?, cause: RejectionCause? = nil, topic: String? = nil) {
        (self.fate, self.cause, self.topic) = (fate, cause, topic)
    }
}

extension JournalReader {
    package func standing(_ uid: UID) throws(JournalError) -> EntryStanding {
        var standing = EntryStanding(try fate(of: uid))
        switch standing.fate {
        case .settled(.rejected)?:
            if case .rejected(let cause)? = try entry(uid)?.state { standing.cause = cause }
        case .deferred(_, let due, _, _)? where due.isPlaceOfTopic:
            standing.topic = try entry(uid)?.notification.topic
        default: break
        }
        return standing
    }
}
