package import Holdfast
package import HoldfastJournal

/// Opens a journal as its owner, and waits a little for one who reads it at rest: `journal status` takes only a moment.
package enum JournalOpening {
    package static let patience = Duration.seconds(3)
    /// How long a service waits for another owner: a tool that changes something, or an earlier service that is ending.
    package static let patienceWithOwners = Duration.seconds(10)
    package static let pause = Duration.milliseconds(20)

    /// - Parameters:
    ///   - patienceWithOwners: how long another owner is waited for. By default it is not: nobody wants to find out after ten
    ///     seconds that a service is running.
    ///   - onWaiting: told once, with what is waited for, when it is an owner.
    /// - Throws: ``JournalError``; with code `beingRead` or `ownedByAnotherProcess`, naming the other, when it takes longer.
    package static func open(
        _ directory: String, _ options: LMDBJournal.Options, patience: Duration = Self.patience,
        patienceWithOwners: Duration = .zero, onWaiting: (JournalError) -> Void = { _ in }
    ) async throws -> LMDBJournal {
        try await waiting(patience, patienceWithOwners, onWaiting) { () throws(JournalError) in
            try LMDBJournal(directory: directory, options: options)
        }
    }

    /// Opens what one process owns, as ``open(_:_:patience:patienceWithOwners:onWaiting:)`` does a journal.
    static func waiting<Opened>(
        _ patience: Duration = Self.patience, _ patienceWithOwners: Duration = .zero,
        _ onWaiting: (JournalError) -> Void = { _ in }, _ open: () throws(JournalError) -> Opened
    ) async throws -> Opened {
        let start = ContinuousClock.now
        var hasTold = false
        while true {
            do throws(JournalError) {
                return try open()
            } catch {
                let waited = ContinuousClock.now - start
                switch error.code {
                case .beingRead where waited < max(patience, patienceWithOwners): break
                case .ownedByAnotherProcess where waited < patienceWithOwners:
                    if !hasTold { onWaiting(error) }
                    hasTold = true
                default: throw error
                }
            }
            try await Task.sleep(for: pause)
        }
    }
}
