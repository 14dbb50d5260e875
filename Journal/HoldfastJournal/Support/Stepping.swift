package import Holdfast

/// Has a journal run without threads of its own, moved on step by step and failing as it is told: for a simulation, in
/// which one seed makes one run.
///
/// The journal commits only inside ``LMDBJournal/step(atMost:)`` and ``LMDBJournal/stepBlacklist()``, and in the calls that
/// are durable on return, which step until they are answered. It allocates nothing ahead of use, and measures no time. A
/// journal that is dropped without ``LMDBJournal/close()`` has crashed: uncommitted requests are gone and never answered, and
/// the directory can be opened again in the same process.
///
/// Everything must come from one thread at a time.
package struct Stepping: Sendable {
    /// The key of a journal that is made; nil for a random one.
    package var identityKey: IdentityKey?
    package var faults: StorageFaults

    package init(identityKey: IdentityKey? = nil, faults: StorageFaults = StorageFaults()) {
        self.identityKey = identityKey
        self.faults = faults
    }
}

/// Decides each time whether something of the storage fails. By default nothing does.
package struct StorageFaults: Sendable {
    /// The ways in which a commit fails.
    package enum Commit: Sendable {
        /// The disk has no room for it: nothing of it is there, and the journal goes on, trying smaller ones.
        case diskFull
        /// Its fate is not known, and the journal must be reopened: then nothing of it is there.
        case lost
        /// Its fate is not known, and the journal must be reopened: then everything of it is there.
        case kept
    }

    /// Asked at the end of each commit of entries; those that are tried again smaller ask again.
    package var entriesCommit: @Sendable () -> Commit? = { nil }
    /// Asked at the end of each commit of the blacklist.
    package var blacklistCommit: @Sendable () -> Commit? = { nil }
    /// Asked before each read of the store, of the blacklist too.
    package var read: @Sendable () -> JournalError? = { nil }

    package init() {}
}

/// A moment of a commit. Others may do anything before the next one.
package enum CommitMoment: Sendable {
    /// The commit is on disk, and readers see it; or it has failed, and the journal knows.
    case visible
    /// The observer has heard of it.
    case reported
    /// The callers are answered.
    case completed
}
