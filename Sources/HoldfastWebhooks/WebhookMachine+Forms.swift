internal import Holdfast
internal import HoldfastRequests

extension WebhookMachine {
    /// An outcome that was read and is to be told.
    struct Item: Hashable, Sendable {
        var cursor: OutcomeCursor
        /// The length of its JSON.
        var byteCount: Int
        var settledAt: WallTime
    }

    /// A part of the log, without what is for others.
    struct Load: Hashable, Sendable {
        var items: [Item]
        var end: OutcomeCursor
        /// Outcomes that were deleted before they were read, or can't be read.
        var missed: Int
        /// Those of them that can't be read, since the journal is damaged.
        var unreadable = 0
        /// Whether others are missing, nobody knows how many, because the history was off.
        var wasOff = false

        var hasGap: Bool { missed > 0 || wasOff }
    }

    /// A request.
    struct Post: Hashable, Sendable {
        /// The places in the load; empty to tell of a gap alone.
        var items: Range<Int>
        var first: OutcomeCursor
        var last: OutcomeCursor
        /// 1 for the first.
        var attempt: Int
        var missed: Int
        /// Whether the receiver may have some of it already.
        var isPossibleDuplicate: Bool
        /// Whether it tells nothing new, and asks only whether the receiver takes anything (``LoneRefusal``).
        var isProbe = false
        /// See ``Load/wasOff``.
        var wasOff = false
    }

    enum Step: Hashable, Sendable {
        case read(after: OutcomeCursor)
        case post(Post)
        /// Move the cursor on disk.
        case move(to: OutcomeCursor)
        case wait(Duration)
    }

    /// Something to log.
    enum News: Hashable, Sendable {
        case failing(String)
        case recovered(after: Duration, failures: Int)
        case missed(Int)
        /// Outcomes are missing that ended while the history was off.
        case wasOff
        /// The receiver calls a request too large; at most so many outcomes from now on.
        case tooLarge(now: Int)
        /// It refuses a request with this status; at most so many outcomes from now on.
        case halved(status: Int, now: Int)
        /// Outcomes were passed over.
        case skipped(Int, last: OutcomeCursor, fault: String)
    }
}

extension WebhookMachine.Post {
    /// Whether the answer to a probe says that the receiver takes what is good. 409 is what some say of a double.
    func proves(_ result: PostResult) -> Bool {
        if case .taken = result { return true }
        return result.status == 409 && !items.isEmpty
    }
}
