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

    /// Refusals by an earlier journal tell nothing about this one.
    func reset() { state.withLock { $0 = State() } }

    func refused(_ count: Int, reason: Reason) {
        guard [.journalFull, .journalUnreachable, .journalFailed].contains(reason) else { return }
        state.withLock { $0 = State(refusedAt: .now, reason: reason) }
    }

    /// Why it takes nothing; nil when it does, as far as is known.
    ///
    /// - Parameter wantsRoom: whether the journal says that it has no room; nil where it says nothing of it, and what was
    ///   refused counts.
    func obstacle(at now: ContinuousClock.Instant = .now, wantsRoom: Bool? = nil) -> String? {
        let (refusedAt, reason) = state.withLock { ($0.refusedAt, $0.reason) }
        let recent = refusedAt.flatMap { now - $0 < Self.memory ? reason : nil }
        if wantsRoom ?? (recent == .journalFull) {
            return "the journal is full, or its disk is: nothing more is taken until it has drained"
        }
        return switch recent {
        case .journalUnreachable?: "what keeps the journal can't be reached: nothing is taken until it answers"
        case .journalFailed?: "the journal can't be written"
        default: nil
        }
    }
}
