public import Holdfast
import HoldfastLMDB

extension LMDBJournal {
    /// Seals with the first of these keys from now on, and opens with all of them.
    ///
    /// What is sealed with other keys stays so until it is settled, or until a compaction seals it anew. Durable on return.
    ///
    /// - Throws: ``Holdfast/JournalError`` with code `wrongKey` where a key is missing with which the journal is sealed, or where
    ///   it is not sealed; then nothing changes. Otherwise as a commit.
    public func useKeys(_ keys: JournalKeys) throws(JournalError) {
        guard let seal = parts.store.environment.rowSeals as? JournalSeal else { throw .notSealed(directory) }
        // A key that is missing for one file must not be used for the other.
        try parts.tokens.seal?.use(
            keys, in: parts.tokens.environment, parts.tokens.facts, directory: directory)
        try seal.use(keys, in: parts.store.environment, tables.facts, directory: directory)
    }

    /// The ids of the keys with which the journal may be sealed, the one that seals first; empty for one that is not sealed.
    public var sealedWith: [String] {
        (parts.store.environment.rowSeals as? JournalSeal)?.listed.ids.map(\.description) ?? []
    }
}
