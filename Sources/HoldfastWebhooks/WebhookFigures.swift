package import Holdfast
internal import HoldfastRequests

/// How a webhook does: for status, metrics and health.
package struct WebhookFigures: Hashable, Sendable {
    /// Outcomes that the receiver has taken.
    package var delivered = 0
    /// Requests that were taken.
    package var taken = 0
    /// Requests that failed.
    package var failed = 0
    /// Outcomes taken in requests that were marked as possible duplicates.
    package var possibleDuplicates = 0
    /// Outcomes that were deleted before they were read.
    package var missed = 0
    /// Outcomes that were passed over, because the receiver refuses them and takes others.
    package var skipped = 0
    /// The last of them, and why.
    package var lastSkipped: SkippedOutcome?
    /// The status of the last answer; nil before the first, and while none is answered.
    package var lastStatus: Int?
    /// Why the last request failed, for people; nil for one that was taken.
    package var fault: String?
    /// Requests that failed since one was taken.
    package var failuresInARow = 0
    /// When the first of them failed.
    package var failingSince: WallTime?
    /// When the next request is made.
    package var nextAttempt: WallTime?

    package init() {}

    mutating func skipped(_ count: Int, last: OutcomeCursor, _ result: PostResult) {
        skipped += count
        lastSkipped = SkippedOutcome(cursor: last, fault: result.fault ?? "")
    }

    mutating func note(_ result: PostResult, _ post: WebhookMachine.Post) {
        // A probe that is taken tells nothing new, and what is refused still is.
        if post.isProbe, post.proves(result) { return }
        (lastStatus, fault) = (result.status, result.fault)
        guard case .taken = result else {
            failed += 1
            return
        }
        taken += 1
        delivered += post.items.count
        if post.isPossibleDuplicate { possibleDuplicates += post.items.count }
    }

    mutating func recovered() { (failuresInARow, failingSince, nextAttempt) = (0, nil, nil) }
}

/// An outcome that was passed over.
package struct SkippedOutcome: Hashable, Sendable {
    package var cursor: OutcomeCursor
    /// The receiver's answer, for people.
    package var fault: String
}
