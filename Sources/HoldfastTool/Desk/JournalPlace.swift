internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

/// Where the journal is that a command is about.
enum JournalPlace: Sendable, CustomStringConvertible {
    /// A directory of this machine.
    case directory(String)
    /// A journal of this machine that is sealed, without its key: its process is asked.
    case served(ServedJournal)
    /// A journal of the fleet: its owner is asked, whichever host that is.
    case fleet(FleetJournal)

    /// For people.
    var description: String {
        switch self {
        case .directory(let path): path
        case .served(let journal): journal.words
        case .fleet(let journal): journal.words
        }
    }

    /// A directory of this machine, whose process is asked where this command has not the key.
    static func here(_ path: String) -> JournalPlace {
        do throws(JournalError) {
            // At rest nobody can be asked, and the command says what is missing.
            if try JournalReader.owner(of: path) != nil { try JournalReader(at: path).close() }
        } catch {
            if error.code == .wrongKey { return .served(ServedJournal(path: path, hindrance: error)) }
        }
        return .directory(path)
    }

    /// The desk of the process that uses the journal, to be closed.
    ///
    /// - Throws: ``ControlError``, with code `notServed` when there is none, or none that takes orders.
    func liveDesk() async throws -> RemoteDesk {
        switch self {
        case .directory(let path): try await RemoteDesk(journal: path)
        case .served(let journal): try await journal.open()
        case .fleet(let journal): try await journal.open()
        }
    }

    /// Runs `body` with what can be read of the journal, and lets go of it.
    func withSource<R>(_ body: (any JournalSource) async throws -> R) async throws -> R {
        switch self {
        case .directory(let path):
            let reader = try JournalReader(at: path)
            defer { reader.close() }
            return try await body(LocalSource(reader))
        case .served(let journal): return try await journal.use { try await body(RemoteSource($0, journal.words)) }
        case .fleet(let journal): return try await journal.use { try await body(RemoteSource($0, journal.words)) }
        }
    }

    /// The same; with nil where the journal was never completely made.
    func withSourceOfMade<R>(_ body: ((any JournalSource)?) async throws -> R) async throws -> R {
        guard case .directory(let path) = self else { return try await withSource(body) }
        guard let reader = try JournalReader.ofMade(at: path) else { return try await body(nil) }
        defer { reader.close() }
        return try await body(LocalSource(reader))
    }

    /// Of a journal of this machine; nil for one of the fleet.
    var directory: String? {
        switch self {
        case .directory(let path): path
        case .served(let journal): journal.path
        case .fleet: nil
        }
    }

    /// The same for the blacklist. Where that is a host's copy of the one that hosts share, says so.
    ///
    /// - Throws: ``ToolError`` with status `noInput` where there is no such copy, or none that was filled: nobody here knows what is
    ///   on the blacklist.
    func withBlacklist<R>(_ body: (any JournalSource) async throws -> R) async throws -> R {
        if let directory { try BlacklistCopyWords.requireCopy(beside: directory) }
        return try await withSource { source in
            if let local = source as? LocalSource, try !local.reader.isBlacklistFilled() {
                throw BlacklistCopyWords.unknown("was not filled from the database yet")
            }
            if let directory, let words = BlacklistCopyWords.words(beside: directory, owner: source.owner) {
                Console.standard.note(words)
            }
            return try await body(source)
        }
    }
}

/// A journal whose owner is asked, since its files are not here or can't be read.
protocol AskedJournal: Sendable {
    /// For people.
    var words: String { get }

    /// The desk of its owner, to be closed.
    func open() async throws -> RemoteDesk

    /// What it means for a command that the owner did not answer, or can't.
    func meaning(of error: ControlError) -> any Error
}

extension AskedJournal {
    /// Runs `body` with the desk of its owner.
    ///
    /// - Throws: what ``meaning(of:)`` makes of an error of the way.
    func use<R>(_ body: (RemoteDesk) async throws -> R) async throws -> R {
        do {
            return try await asking(body)
        } catch let error as ControlError {
            throw meaning(of: error)
        }
    }

    /// The same, with errors of the way as they are.
    func asking<R>(_ body: (RemoteDesk) async throws -> R) async throws -> R {
        let desk = try await open()
        do {
            let result = try await body(desk)
            await desk.close()
            return result
        } catch {
            await desk.close()
            throw error
        }
    }
}

/// A sealed journal in use, without its key.
struct ServedJournal: AskedJournal {
    let path: String
    /// Why its files can't be read.
    let hindrance: JournalError

    var words: String { path }

    func open() async throws -> RemoteDesk { try await RemoteDesk(journal: path) }

    /// Without an owner that tells, there is no way but the key.
    func meaning(of error: ControlError) -> any Error {
        switch error.code {
        case .notServed: ToolError(hindrance)
        case .unknownRequest:
            ToolError(
                .configuration,
                "the process that uses \(path) does not tell this, and its files can't be read: \(hindrance.message)")
        default: error
        }
    }
}

/// A journal of the fleet, by its name in the database.
struct FleetJournal: AskedJournal {
    let register: FleetRegister
    let name: String
    /// How long its owner may take for an answer.
    let timeout: Duration

    var words: String { "journal \(name)" }

    /// The desk names the host.
    func open() async throws -> RemoteDesk { try await register.open(name, timeout: timeout) }

    /// With status `hostSilent` where the owner does not answer.
    func meaning(of error: ControlError) -> any Error {
        error.isSilence ? ToolError(.hostSilent, error.message) : error
    }
}

extension ControlError {
    /// Whether the owner of a journal of the fleet did not answer, or there is none.
    var isSilence: Bool { [.notServed, .timedOut, .busy].contains(code) }
}
