/// Decides whether a refusal of the credentials is about the credentials.
///
/// One server of a service that has not learnt of a key yet, or whose clock is off, refuses what all others take. So
/// credentials with which notifications are confirmed are convicted only by refusals that nothing interrupts. One entry alone
/// does not convict them, however often it is refused: that may be about the entry.
///
/// A pure machine.
struct CredentialTrial: Sendable {
    var policy: CredentialPolicy
    /// When something was last confirmed with these credentials; nil when nothing ever was.
    private var confirmedAt: Duration?
    /// Refusals since then.
    private var refusals = 0
    /// The first entry that was refused since then.
    private var firstRefused: UID?
    /// Whether another entry was refused as well since then, or the service spoke of all.
    private(set) var refusesSeveral = false

    /// Refusals since then of the only entry that was refused.
    var refusalsOfOne: Int { refusesSeveral ? 0 : refusals }

    init(policy: CredentialPolicy) { self.policy = policy }

    /// Others are in use: nothing is known of them.
    mutating func begin() { restart(confirmedAt: nil) }

    /// - Parameter now: by the monotonic clock.
    mutating func confirmed(now: Duration) { restart(confirmedAt: now) }

    private mutating func restart(confirmedAt: Duration?) {
        self.confirmedAt = confirmedAt
        refusals = 0
        firstRefused = nil
        refusesSeveral = false
    }

    /// The service refuses the credentials.
    ///
    /// - Parameter uid: the entry that it refuses; nil when it speaks of all.
    /// - Returns: whether they are convicted. If not, the entry alone has to wait.
    mutating func refused(_ uid: UID?, now: Duration) -> Bool {
        if uid == nil || firstRefused != nil && firstRefused != uid { refusesSeveral = true }
        firstRefused = firstRefused ?? uid
        guard let confirmedAt else { return true }
        refusals += 1
        guard refusesSeveral else { return false }
        if refusals >= policy.greatestRefusals { return true }
        return refusals >= policy.leastRefusals && now - confirmedAt >= policy.silence
    }
}
