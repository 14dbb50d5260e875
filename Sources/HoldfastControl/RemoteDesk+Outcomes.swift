public import Holdfast

/// The log of outcomes of the owner's journal.
extension RemoteDesk {
    /// Looks for ended notifications, the newest first.
    ///
    /// A tag that is no UTF-8 can't be looked for on this way.
    public func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor?, limit: Int
    ) async throws -> OutcomePage {
        let question = OutcomeQuestion.find(query, before: before, limit: limit)
        return try await call(.findOutcomes, query: question.queryText, as: OutcomesFoundForm.self).value()
    }

    /// Looks for rejections that the log does not have.
    ///
    /// A tag that is no UTF-8 can't be looked for on this way.
    public func findRejections(_ query: OutcomeQuery, after uid: UID, limit: Int) async throws -> RejectionPage {
        let question = OutcomeQuestion.find(query, before: nil, rejectionsAfter: uid, limit: limit)
        return try await call(.findOutcomes, query: question.queryText, as: OutcomesFoundForm.self).rejections()
    }

    /// Lists outcomes in the order in which they ended, and waits for some where there are none yet, for 20 seconds at most.
    public func outcomes(
        after cursor: OutcomeCursor?, limit: Int, of producers: Set<String>?, waitingAtMost wait: Duration
    ) async throws -> OutcomeListing {
        let question = OutcomeQuestion.list(
            after: cursor, limit: limit, producers: producers, wait: min(wait, OutcomeQuestion.longestWait))
        return try await call(.listOutcomes, query: question.queryText, as: OutcomeListForm.self).value()
    }

    /// The bounds of the log, and its readers.
    public func outcomeLog() async throws -> OutcomeLogStatus {
        try await call(.outcomeReaders, as: HistoryForm.self).value()
    }

    /// Registers a reader at the newest outcome, durably on return. One that is known stays where it is.
    public func openOutcomeReader(_ name: String) async throws -> OutcomeCursor {
        let order = ReaderOrderForm(reader: name)
        return OutcomeCursor(try await call(.openReader, try Form.line(order), as: ReaderChangeForm.self).cursor ?? 0)
    }

    /// Moves a reader's cursor, durably on return.
    public func moveOutcomeReader(_ name: String, to cursor: OutcomeCursor) async throws {
        let order = ReaderOrderForm(reader: name, cursor: cursor.rawValue)
        _ = try await call(.moveReader, try Form.line(order), as: ReaderChangeForm.self)
    }

    /// Forgets a reader, durably on return.
    public func forgetOutcomeReader(_ name: String) async throws {
        let order = ReaderOrderForm(reader: name)
        _ = try await call(.forgetReader, try Form.line(order), as: ReaderChangeForm.self)
    }
}
