internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// A process that uses a journal and serves no control socket, so that nobody can ask it or give it orders.
struct MissingSocket {
    /// How long a service may have its journal before it serves its socket.
    static let startLimit = Duration.seconds(10)

    private let owner: OwnerName
    private let journal: String
    /// For how long it has had the journal; nil where nobody knows.
    private let held: Duration?

    /// - Parameter owner: as ``JournalReader`` names it.
    init(of owner: String, journal: String, now: WallTime = EngineClock.system.wall()) {
        self.owner = OwnerName(owner)
        self.journal = journal
        held = self.owner.since.map { now.since($0) }
    }

    private var isStarting: Bool { held.map { $0 < Self.startLimit } ?? false }
    private var isHoldfast: Bool { owner.program == "holdfast" }

    /// Reads on behind the name of the process, and "and".
    var words: String {
        if isStarting {
            let other = isHoldfast ? "a command that works on the journal" : "an application without a ControlSocket"
            return "it serves no control socket yet: it is just starting, or \(other)"
        }
        let time = held.map { "it has had the journal for \(Format.span($0)) and serves" } ?? "it serves"
        let kind =
            isHoldfast
            ? "a command that works on the journal, such as `journal compact`, or a service that can't make the socket"
            : "an application that runs no ControlSocket, or can't make one"
        return "\(time) no control socket: it is \(kind)"
    }

    var next: String {
        if isStarting { return "ask again in some seconds" }
        guard isHoldfast, let process = owner.process else {
            return
                "let the application run a ControlSocket, or stop it: a journal at rest is read and steered by the "
                + "same commands"
        }
        return
            "`ps -o args= -p \(process)` says which it is. A command ends by itself. The log of a service says what keeps "
            + "it from making \(journal)/control.sock; a restart makes it, too, and loses nothing"
    }
}

extension JournalPlace {
    /// Why nobody takes a command's orders, and what to do.
    ///
    /// - Parameters:
    ///   - atRest: what to say where no process uses the journal.
    ///   - status: that of a process that serves no control socket.
    func unserved(atRest: String, status: ToolStatus = .entriesLeft) -> ToolError {
        guard let directory, let owner = try? JournalReader.owner(of: directory) else {
            return ToolError(.unavailable, atRest)
        }
        let socket = MissingSocket(of: owner, journal: directory)
        return ToolError(status, "\(directory) is in use by \(owner), and \(socket.words). Next: \(socket.next)")
    }
}
