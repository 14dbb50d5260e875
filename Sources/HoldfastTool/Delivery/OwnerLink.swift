internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// The connection to the process that uses a journal, through its restarts.
struct OwnerLink {
    let journal: String
    let console: Console
    private(set) var owner: String
    private var desk: RemoteDesk?
    /// Whether it was said that the owner is waited for.
    private var isWaiting = false

    init(_ desk: RemoteDesk, of journal: String, console: Console) {
        (self.journal, self.console, owner) = (journal, console, desk.owner)
        self.desk = desk
    }

    /// - Throws: ``ToolError`` with code `entriesLeft` when no process has the journal for ``HandOverWatch/ownerLimit``.
    mutating func connected() async throws -> RemoteDesk {
        if let desk { return desk }
        let wait = OwnerWait()
        while true {
            do {
                let found = try await RemoteDesk(journal: journal)
                (desk, owner) = (found, found.owner)
                if isWaiting { console.note("\(owner) uses the journal now: going on") }
                isWaiting = false
                return found
            } catch let error as ControlError where error.mayPass || error.code == .timedOut {
                guard !wait.isOver else {
                    throw ToolError(
                        .entriesLeft,
                        "the process that used the journal has ended, or does not answer, and no other has come: --resume goes on "
                            + "with the file (\(error.message))")
                }
                try await wait.pause()
            }
        }
    }

    /// The owner has few connections: who waits lets go of his.
    mutating func release() async {
        await desk?.close()
        desk = nil
    }

    /// The owner has ended, or is about to.
    mutating func lose() async {
        if !isWaiting { console.note("\(owner) has ended, or takes nothing at the moment: waiting for the next one") }
        isWaiting = true
        await release()
    }
}
