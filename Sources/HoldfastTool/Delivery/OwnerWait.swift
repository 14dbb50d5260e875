/// The time for which an owner of the journal is waited for that is just beginning, ending, or away.
struct OwnerWait {
    private static let interval = Duration.milliseconds(100)

    private let deadline = ContinuousClock.now + HandOverWatch.ownerLimit

    /// Whether it was waited for long enough.
    var isOver: Bool { ContinuousClock.now >= deadline }

    /// Until it is worth looking again.
    func pause() async throws { try await Task.sleep(for: Self.interval) }
}
