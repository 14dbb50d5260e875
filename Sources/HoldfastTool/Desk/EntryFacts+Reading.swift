internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

extension EntryFacts {
    /// Collects the facts about an entry from the journal and, if a process uses the journal, from that process.
    static func find(_ uid: UID, at place: JournalPlace) async throws -> EntryFacts {
        switch place {
        case .directory(let path): return try await find(uid, in: path)
        case .served(let journal): return try await journal.use { try await find(uid, of: $0) }
        case .fleet(let journal): return try await journal.use { try await find(uid, of: $0) }
        }
    }

    /// Collects the facts about an entry from the journal and, if a process uses the journal, from that process.
    ///
    /// - Parameter console: is told what keeps that process from saying anything.
    static func find(_ uid: UID, in path: String, console: Console = .standard) async throws -> EntryFacts {
        var facts = try read(uid, in: path)
        guard let owner = facts.owner, case .entry(let entry) = facts.standing else { return facts }
        let silence: String
        do {
            if let desk = try await DeskOpener.live(path) {
                do {
                    facts.live = try await LiveFacts(of: uid, in: entry.lane, from: desk)
                } catch {
                    await desk.close()
                    throw error
                }
                await desk.close()
                // The process's facts may be newer than the journal's.
                return facts
            }
            silence = "it serves no control socket"
        } catch let error as ControlError {
            silence = error.message
        }
        console.note("this is what is in the journal only: it is in use by \(owner), and \(silence)")
        return facts
    }

    private static func read(_ uid: UID, in path: String) throws(JournalError) -> EntryFacts {
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        return try read(uid, reader)
    }
}
