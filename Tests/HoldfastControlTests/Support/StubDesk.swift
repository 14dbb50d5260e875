import Holdfast

/// Says what it was told to say, and remembers what it was asked.
final class StubDesk: OperatorDesk {
    struct State: Sendable {
        var asked: [String] = []
        var status = DeskStatus(lanes: [], routes: [])
        var insights: [EntryInsight] = []
        var withdrawal = Withdrawal()
        var retries: [Retry] = []
        var submitted: [PushNotification] = []
        var receipts: [Receipt] = []
        var restored: [RestoredEntry] = []
        var note: [UInt8]?
        var blacklisted: [BlacklistEntry] = []
        var found = OutcomePage(outcomes: [], end: .start)
        var foundRejections = RejectionPage()
        var listing = OutcomeListing(outcomes: [], end: .start, newest: .start)
        var log = OutcomeLogStatus(deleted: .start, newest: .start)
        var queries: [OutcomeQuery] = []
        var failure: (any Error)?
        /// Calls wait while this is set.
        var isHeld = false
        /// Who may wait for outcomes waits.
        var holdsWaits = false
        /// Those who wait for outcomes.
        var waiting = 0
        /// Calls that have come, those that wait included.
        var begun = 0
    }

    let state = Monitor(State())

    private func asked<R>(_ what: String, _ answer: (inout State) -> R) async throws -> R {
        state.withLock { $0.begun += 1 }
        while state.withLock(\.isHeld) { try await Task.sleep(for: .milliseconds(5)) }
        return try state.withLock { state in
            state.asked.append(what)
            if let failure = state.failure { throw failure }
            return answer(&state)
        }
    }

    func status() async throws -> DeskStatus { try await asked("status") { $0.status } }

    func insights(_ uids: [UID]) async throws -> [EntryInsight] {
        try await asked("insights \(uids)") { $0.insights }
    }

    func pause(_ lane: LaneKey, reason: String) async throws { try await asked("pause \(lane) \(reason)") { _ in } }

    func resume(_ lane: LaneKey) async throws { try await asked("resume \(lane)") { _ in } }

    func connect(route: String) async throws { try await asked("connect \(route)") { _ in } }

    func pause(tag: [UInt8], reason: String) async throws { try await asked("pause tag \(tag) \(reason)") { _ in } }

    func resume(tag: [UInt8]) async throws { try await asked("resume tag \(tag)") { _ in } }

    func resumeAllTags() async throws { try await asked("resume all tags") { _ in } }

    func reloadCredentials() async throws -> [CredentialReload] {
        try await asked("reload") { _ in
            [CredentialReload(route: "a"), CredentialReload(route: "b", failure: "there is no such file")]
        }
    }

    func submit(_ notifications: [PushNotification]) async throws -> [Receipt] {
        try await asked("submit \(notifications.count)") { state in
            state.submitted += notifications
            return state.receipts
        }
    }

    func submit(
        _ notifications: [PushNotification], as producer: String?, note: RestoreNote?
    ) async throws -> [Receipt] {
        try await asked("submit \(notifications.count) as \(producer ?? "-") with \(note?.name ?? "-")") { state in
            state.submitted += notifications
            state.note = note?.value
            return state.receipts
        }
    }

    func withdraw(_ uids: [UID]) async throws -> Withdrawal {
        try await asked("withdraw \(uids.count)") { $0.withdrawal }
    }

    func retry(_ rejections: [UID]) async throws -> [Retry] {
        try await asked("retry \(rejections)") { $0.retries }
    }

    func discard(_ rejections: [UID]) async throws -> Int {
        try await asked("discard \(rejections)") { _ in rejections.count }
    }

    func retryQuarantined(_ uids: [UID]) async throws -> [UID] {
        try await asked("retry quarantined \(uids)") { _ in uids.filter { $0.rawValue.isMultiple(of: 2) } }
    }

    func blacklist(_ entries: [BlacklistEntry]) async throws {
        try await asked("blacklist") { $0.blacklisted += entries }
    }

    func unblacklist(_ keys: [BlacklistKey]) async throws -> Int {
        let words = keys.map { key in
            key.recipient.notation + (key.scope.map { " \($0.topic ?? "-") \($0.endpoint ?? "-")" } ?? "")
        }
        return try await asked("unblacklist \(words)") { _ in keys.count }
    }

    func restore(_ entries: [RestoredEntry], note: RestoreNote?) async throws -> [UID] {
        try await asked("restore \(note?.name ?? "-")") { state in
            state.restored += entries
            state.note = note?.value
            return entries.indices.map { UID(UInt64($0) + 1) }
        }
    }

    // MARK: Outcomes

    func findOutcomes(_ query: OutcomeQuery, before: OutcomeCursor?, limit: Int) async throws -> OutcomePage {
        try await asked("find before \(before.map { "\($0)" } ?? "-") \(limit)") { state in
            state.queries.append(query)
            return state.found
        }
    }

    func findRejections(_ query: OutcomeQuery, after uid: UID, limit: Int) async throws -> RejectionPage {
        try await asked("rejections after \(uid) \(limit)") { $0.foundRejections }
    }

    func outcomes(
        after cursor: OutcomeCursor?, limit: Int, of producers: Set<String>?, waitingAtMost wait: Duration
    ) async throws -> OutcomeListing {
        if wait > .zero, state.withLock(\.holdsWaits) {
            state.withLock { $0.waiting += 1 }
            do { try await Task.sleep(for: wait) } catch {}
            state.withLock { $0.waiting -= 1 }
        }
        return try await asked("list \(cursor.map { "\($0)" } ?? "-") \(limit) \(producers?.sorted() ?? []) \(wait)") {
            $0.listing
        }
    }

    func outcomeLog() async throws -> OutcomeLogStatus { try await asked("log") { $0.log } }

    func openOutcomeReader(_ name: String) async throws -> OutcomeCursor {
        try await asked("open \(name)") { _ in OutcomeCursor(7) }
    }

    func moveOutcomeReader(_ name: String, to cursor: OutcomeCursor) async throws {
        try await asked("move \(name) \(cursor)") { _ in }
    }

    func forgetOutcomeReader(_ name: String) async throws { try await asked("forget \(name)") { _ in } }
}
