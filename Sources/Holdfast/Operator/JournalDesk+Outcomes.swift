/// The log of outcomes of a journal that no engine uses.
extension JournalDesk {
    /// Looks for ended notifications, the newest first.
    public func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor?, limit: Int
    ) async throws -> OutcomePage {
        try journal.findOutcomes(query, before: before, limit: limit, mostBytes: OutcomeLogReading.searchBytes)
    }

    /// Looks for rejections that the log does not have.
    public func findRejections(_ query: OutcomeQuery, after uid: UID, limit: Int) async throws -> RejectionPage {
        try RejectionSearch(journal, query, limit: limit).page(after: uid)
    }

    /// Lists outcomes in the order in which they ended. Does not wait: without an engine none come.
    public func outcomes(
        after cursor: OutcomeCursor?, limit: Int, of producers: Set<String>?, waitingAtMost wait: Duration
    ) async throws -> OutcomeListing {
        try OutcomeLogReading(journal).listing(after: cursor, limit: limit, of: producers)
    }

    /// The bounds of the log, and its readers.
    public func outcomeLog() async throws -> OutcomeLogStatus { try history() }

    func history() throws(JournalError) -> OutcomeLogStatus {
        try OutcomeLogReading(journal).status(isKept: try keepsOutcomes(), readers: journal.outcomeReaders)
    }

    /// Whether what ends is written to the log: as its last engine had it.
    func keepsOutcomes() throws(JournalError) -> Bool { try OutcomeKeeping.isOn(in: journal) }

    /// Registers a reader at the newest outcome, durably on return.
    public func openOutcomeReader(_ name: String) async throws -> OutcomeCursor {
        // The engine's own stays as the engine wants it.
        if let known = journal.outcomeReaders.first(where: { $0.name == name }) { return known.cursor }
        guard try keepsOutcomes() else { throw JournalError.historyIsOff }
        return try journal.openReader(name, isWaitedFor: false)
    }

    /// Moves a reader's cursor, durably on return.
    public func moveOutcomeReader(_ name: String, to cursor: OutcomeCursor) async throws {
        try checkReader(name)
        try await journal.move(name, to: cursor)
    }

    /// Forgets a reader, durably on return.
    public func forgetOutcomeReader(_ name: String) async throws {
        try checkReader(name)
        guard name != OutcomeReader.engineName else {
            throw JournalError(
                .inUse,
                "the reader \(name.debugDescription) is that of the application which takes the outcomes, and is not forgotten: "
                    + "move its cursor, or have the application keep no outcomes")
        }
        try await journal.move(name, to: nil)
    }

    private func checkReader(_ name: String) throws(JournalError) {
        let names = journal.outcomeReaders.map(\.name).sorted()
        guard !names.contains(name) else { return }
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        throw JournalError(.notFound, "the journal has no reader \(name.debugDescription) of outcomes: \(known)")
    }
}
