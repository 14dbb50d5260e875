internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

/// Where the journal is that a command is about.
enum JournalPlace: Sendable, CustomStringConvertible {
    /// A directory of this machine.
    case directory(String)
    /// A journal of the fleet: its owner is asked, whichever host that is.
    case fleet(FleetJournal)

    /// For people.
    var description: String {
        switch self {
        case .directory(let path): path
        case .fleet(let journal): "journal \(journal.name)"
        }
    }

    /// The desk of the process that uses the journal, to be closed.
    ///
    /// - Throws: ``ControlError``, with code `notServed` when there is none, or none that takes orders.
    func liveDesk() async throws -> RemoteDesk {
        switch self {
        case .directory(let path): try await RemoteDesk(journal: path)
        case .fleet(let journal): try await journal.register.open(journal.name, timeout: journal.timeout)
        }
    }

    /// Runs `body` with what can be read of the journal, and lets go of it.
    func withSource<R>(_ body: (any JournalSource) async throws -> R) async throws -> R {
        switch self {
        case .directory(let path):
            let reader = try JournalReader(at: path)
            defer { reader.close() }
            return try await body(LocalSource(reader))
        case .fleet(let journal):
            return try await journal.use { try await body(RemoteSource($0, journal.name)) }
        }
    }

    /// The same for the blacklist. Where that is a host's copy of the one that hosts share, says so.
    func withBlacklist<R>(_ body: (any JournalSource) async throws -> R) async throws -> R {
        try await withSource { source in
            if case .directory(let path) = self, let words = BlacklistCopyWords.words(beside: path, owner: source.owner)
            {
                Console.standard.note(words)
            }
            return try await body(source)
        }
    }
}

/// A journal of the fleet, by its name in the database.
struct FleetJournal: Sendable {
    let register: FleetRegister
    let name: String
    /// How long its owner may take for an answer.
    let timeout: Duration

    /// Runs `body` with the desk of its owner, which names the host.
    ///
    /// - Throws: ``ToolError`` with status `hostSilent` where the owner does not answer.
    func use<R>(_ body: (RemoteDesk) async throws -> R) async throws -> R {
        do {
            let desk = try await register.open(name, timeout: timeout)
            do {
                let result = try await body(desk)
                await desk.close()
                return result
            } catch {
                await desk.close()
                throw error
            }
        } catch let error as ControlError where [.notServed, .timedOut, .busy].contains(error.code) {
            throw ToolError(.hostSilent, error.message)
        }
    }
}
