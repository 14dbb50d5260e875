/// Counts consecutive refusals of a lane, or of a topic, for the same reason. So many bad notifications are less likely than a
/// wrong server, or a bug of the sender.
///
/// A pure machine.
struct UniformRefusals: Hashable, Sendable {
    /// One way to refuse.
    enum Kind: Hashable, Sendable {
        case foreign
        /// The request is wrong, whatever the reason is called.
        case request
        case notification(Reason?)

        /// Nil for answers that are no such refusal.
        init?(_ result: SendResult, isBroadcast: Bool) {
            switch isBroadcast ? result.verdict.ofBroadcast : result.verdict {
            case .foreign: self = .foreign
            case .rejected(.request): self = .request
            case .rejected(.notification): self = .notification(result.reason)
            // Those are judged by topic: see TopicBreakers.
            case .rejected(.token), .rejected(.suspectToken): return nil
            case .confirmed, .deferred, .neverProcessed, .laneStopped, .unknown: return nil
            }
        }
    }

    private(set) var count = 0
    private var kind: Kind?
    private var isProven = false

    mutating func confirmed() {
        count = 0
        kind = nil
        isProven = true
    }

    /// - Returns: whether these are too many to be believed. Then the answer settles nothing.
    mutating func refused(_ kind: Kind, policy: SuspectPolicy) -> Bool {
        count = kind == self.kind ? count + 1 : 1
        self.kind = kind
        let believed =
            switch kind {
            case .foreign: isProven ? policy.allowance : policy.allowanceUnproven
            case .request, .notification: policy.greatestUniform
            }
        return count > believed
    }
}
