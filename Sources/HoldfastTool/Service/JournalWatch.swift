internal import Holdfast

/// Whether the journal takes what comes, as the engine hears of it.
final class JournalWatch: MetricsListener {
    /// How long a refusal counts: where nobody submits, nobody would say that there is room again.
    static let memory: Duration = .seconds(30)

    private struct State: Sendable {
        var refusedAt: ContinuousClock.Instant?
        var reason: Reason?
    }

    private let state = Monitor(State())

    func accepted(_ count: Int) { reset() }

    /// What was refused by a journal before this one says nothing of it.
    func reset() { state.withLock { $0 = State() } }

    func refused(_ count: Int, reason: Reason) {
        guard reason == .journalFull || reason == .journalFailed else { return }
        state.withLock { $0 = State(refusedAt: .now, reason: reason) }
    }

    /// Why it takes nothing; nil when it does, as far as is known.
    func obstacle(at now: ContinuousClock.Instant = .now) -> String? {
        let (refusedAt, reason) = state.withLock { ($0.refusedAt, $0.reason) }
        guard let refusedAt, now - refusedAt < Self.memory else { return nil }
        return reason == .journalFull
            ? "the journal is full, or its disk is: nothing more is taken until it has drained"
            : "the journal can't be written"
    }
}
