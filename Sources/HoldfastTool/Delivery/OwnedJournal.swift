internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Reads a journal that another process uses, only for a moment each time: a reader keeps the next owner from opening it.
struct OwnedJournal: Sendable {
    /// Outcomes read in one piece.
    private static let page = 1000

    let directory: String
    let place: JournalPlace

    init(directory: String, at place: JournalPlace) { (self.directory, self.place) = (directory, place) }

    init(directory: String) { self.init(directory: directory, at: .here(directory)) }

    /// How often it may be looked into: a process that is asked has few connections.
    var pause: Duration { if case .served = place { .milliseconds(200) } else { .milliseconds(20) } }

    /// Runs `body` with what can be read of it. Where its process is asked, waits for the next one when that has ended.
    ///
    /// - Parameter isPatient: whether it waits.
    func reading<R>(isPatient: Bool = true, _ body: (any JournalSource) async throws -> R) async throws -> R {
        guard case .served(let journal) = place else { return try await place.withSource(body) }
        let wait = OwnerWait()
        while true {
            do {
                return try await journal.asking { try await body(RemoteSource($0, journal.words)) }
            } catch let error as ControlError where error.mayPass || error.code == .timedOut {
                guard isPatient, !wait.isOver else {
                    throw ToolError(
                        .entriesLeft,
                        "the process that used the journal has ended, or does not answer, and no other has come. Without it "
                            + "nobody can say here what became of what it took: \(journal.hindrance.message)")
                }
                try await wait.pause()
            } catch let error as ControlError {
                throw journal.meaning(of: error)
            }
        }
    }

    /// Tells all outcomes that came since to the ledger.
    func tell(_ ledger: SendLedger) async throws {
        while true {
            let cursor = await ledger.cursor
            let listing = try await reading { try await $0.outcomes(after: cursor, limit: Self.page, of: nil) }
            guard try await ledger.absorb(listing), listing.end > cursor else { return }
        }
    }

    /// The route that it remembers.
    func rememberedRoute() async throws -> RouteSettings? {
        let note = try await reading { try await $0.note(RouteSettings.noteName) }
        return try RouteSettings.decode(note, journal: directory)
    }
}
