package import Holdfast
package import HoldfastJournal

extension JournalSettings {
    /// - Throws: ``JournalError``.
    package func open(at path: String, create: Bool) async throws -> LMDBJournal {
        try await JournalOpening.open(path, try options(create: create))
    }

    /// For a service, which waits a while for another owner to end.
    ///
    /// - Parameter onWaiting: told once, when there is one.
    /// - Throws: ``JournalError``.
    package func openPatiently(at path: String, onWaiting: (JournalError) -> Void) async throws -> LMDBJournal {
        try await JournalOpening.open(
            path, try options(create: true), patienceWithOwners: JournalOpening.patienceWithOwners, onWaiting: onWaiting
        )
    }
}
