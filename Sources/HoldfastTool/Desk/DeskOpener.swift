internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// Finds the desk of a journal: of one in use by way of its owner's socket, of one at rest by becoming its owner; of one of the
/// fleet by way of its database.
struct DeskOpener {
    let place: JournalPlace
    /// How long an owner that is just beginning or ending, or a reader of a journal at rest, is waited for.
    var patience = JournalOpening.patience

    init(_ place: JournalPlace) { self.place = place }

    init(journal: String) { self.init(.directory(journal)) }

    /// Runs `body` with the desk, and lets go of the journal.
    ///
    /// - Throws: ``JournalError``; ``ToolError`` for a journal whose owner serves no desk.
    func withDesk<R>(_ body: (any OperatorDesk) async throws -> R) async throws -> R {
        let found: Found
        switch place {
        case .fleet(let journal): return try await journal.use(body)
        case .served(let journal): found = try await find(journal.path)
        case .directory(let journal): found = try await find(journal)
        }
        do {
            let result = try await body(found.desk)
            await found.close()
            return result
        } catch {
            await found.close()
            throw error
        }
    }

    /// The desk of the process that uses the journal; nil when none serves one.
    static func live(_ journal: String) async throws -> RemoteDesk? {
        do {
            return try await RemoteDesk(journal: journal)
        } catch let error as ControlError where error.code == .notServed {
            return nil
        }
    }

    private enum Found {
        case live(RemoteDesk)
        case atRest(JournalDesk, LMDBJournal)

        var desk: any OperatorDesk {
            switch self {
            case .live(let desk): desk
            case .atRest(let desk, _): desk
            }
        }

        func close() async {
            switch self {
            case .live(let desk): await desk.close()
            case .atRest(_, let journal): journal.close()
            }
        }
    }

    private func find(_ journal: String) async throws -> Found {
        let deadline = ContinuousClock.now + patience
        while true {
            let hindrance: ControlError
            do {
                return .live(try await RemoteDesk(journal: journal))
            } catch let error as ControlError where error.mayPass {
                hindrance = error
            }
            do throws(JournalError) {
                return try atRest(journal)
            } catch {
                guard ContinuousClock.now < deadline else { throw explain(error, hindrance, journal) }
                guard error.code == .beingRead || error.code == .ownedByAnotherProcess else { throw error }
            }
            try await Task.sleep(for: JournalOpening.pause)
        }
    }

    private func atRest(_ journal: String) throws(JournalError) -> Found {
        var options = try KeyFileChoice.options(of: journal)
        options.create = false
        let opened = try LMDBJournal(directory: journal, options: options)
        return .atRest(JournalDesk(journal: opened), opened)
    }

    private func explain(_ error: JournalError, _ hindrance: ControlError, _ journal: String) -> any Error {
        guard error.code == .ownedByAnotherProcess else { return error }
        // It has a socket, which says what to do.
        if hindrance.code == .busy { return ToolError(.entriesLeft, "\(error.message); \(hindrance.message)") }
        guard hindrance.code == .notServed, let owner = try? JournalReader.owner(of: journal) else {
            return ToolError(.entriesLeft, "\(error.message), and it can't be asked to: \(hindrance.message)")
        }
        let socket = MissingSocket(of: owner, journal: journal)
        return ToolError(
            .entriesLeft,
            "\(error.message), and it can't be asked to, since \(socket.words). Next: \(socket.next)")
    }
}

extension ControlError {
    /// Whether it is one of an owner that begins or ends, which has no socket, or closes it.
    var mayPass: Bool { [.notServed, .disconnected, .busy].contains(code) }
}
