/// Pauses of tags.
extension JournalDesk: FleetOrderDesk {
    /// Notes in the journal, durably on return, that the tag is paused.
    public func pause(tag: [UInt8], reason: String) async throws { try pause(tag, reason) }

    package func pauseForFleet(tag: [UInt8], reason: String) async throws { try pause(tag, reason, isOfFleet: true) }

    private func pause(_ tag: [UInt8], _ reason: String, isOfFleet: Bool = false) throws(JournalError) {
        var pauses = try journal.pausedTags()
        try pauses.pause(tag, reason: reason, at: clock.wall(), isOfFleet: isOfFleet)
        try journal.keep(pauses)
    }

    /// Notes in the journal, durably on return, that the tag is not paused any more.
    public func resume(tag: [UInt8]) async throws {
        var pauses = try journal.pausedTags()
        try pauses.resume(tag)
        try journal.keep(pauses)
    }

    /// Notes in the journal, durably on return, that no tag is paused, whatever the record of the paused tags says.
    public func resumeAllTags() async throws {
        var pauses: TagPauses
        do throws(JournalError) {
            pauses = try journal.pausedTags()
        } catch {
            guard error.code == .damaged else { throw error }
            pauses = TagPauses()
        }
        pauses.resumeAll()
        try journal.keep(pauses)
    }

    func pausedTags() throws(JournalError) -> [DeskStatus.PausedTag] {
        let pauses = try journal.pausedTags().all
        guard !pauses.isEmpty else { return [] }
        let lanes = try journal.status().lanes
        return try pauses.map { (pause) throws(JournalError) in
            var held = 0
            for lane in lanes where lane.heldByTag > 0 { held += try journal.heldCount(lane.id, by: pause) }
            return DeskStatus.PausedTag(tag: pause.tag, since: pause.since, reason: pause.reason, held: held)
        }
    }
}
