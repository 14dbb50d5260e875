internal import Holdfast
internal import HoldfastService

/// Where it is looked up what became of a notification.
struct FateRegister {
    /// The fate of an entry, if the journal still knows it.
    let fate: (UID) throws(JournalError) -> EntryFate?
    /// Of a rejection that is kept.
    let cause: (UID) throws(JournalError) -> RejectionCause?
}

extension FateRegister {
    /// This process's own journal.
    init(_ journal: any JournalService) {
        self.init(
            fate: { (uid) throws(JournalError) in try journal.fate(of: uid) },
            cause: { (uid) throws(JournalError) in
                let kept = try journal.rejections(after: UID(uid.rawValue - 1), limit: 1).first
                return kept?.uid == uid ? kept?.cause : nil
            })
    }

    /// A journal that another process uses, as it was read.
    init(_ standings: [UID: EntryStanding]) {
        self.init(
            fate: { (uid) throws(JournalError) in standings[uid]?.fate },
            cause: { (uid) throws(JournalError) in standings[uid]?.cause })
    }
}
