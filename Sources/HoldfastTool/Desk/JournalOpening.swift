internal import Holdfast
internal import HoldfastJournal

/// Opens a journal as its owner, and waits a little for one who reads it at rest: `journal status` takes only a moment.
enum JournalOpening {
    static let patience = Duration.seconds(3)
    static let pause = Duration.milliseconds(20)

    /// - Throws: ``JournalError``; with code `beingRead`, naming the reader, when it reads for longer.
    static func open(
        _ directory: String, _ options: LMDBJournal.Options, patience: Duration = Self.patience
    ) async throws -> LMDBJournal {
        let deadline = ContinuousClock.now + patience
        while true {
            do throws(JournalError) {
                return try LMDBJournal(directory: directory, options: options)
            } catch {
                guard error.code == .beingRead, ContinuousClock.now < deadline else { throw error }
            }
            try await Task.sleep(for: pause)
        }
    }
}
