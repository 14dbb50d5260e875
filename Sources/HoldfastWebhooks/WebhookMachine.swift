internal import Holdfast

/// Decides what a webhook does next: read the log, post, wait, or move its cursor on disk. A pure machine: times and random
/// numbers are arguments.
///
/// One request is in flight at a time, and the cursor moves only behind outcomes that the receiver has taken. So outcomes
/// arrive in the order of the log, and none is passed over.
struct WebhookMachine: Sendable {
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
        /// Outcomes that were deleted before they were read.
        var missed: Int
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
        /// The receiver calls a request too large; at most so many outcomes from now on.
        case tooLarge(now: Int)
    }

    /// The most bytes of outcomes in a request, if it has more than one.
    static let byteLimit = 1 << 20
    /// Outcomes for others that are passed before that is noted on disk.
    static let passedLimit: UInt64 = 10_000
    /// Requests taken in a row after which one that was too large is tried larger again.
    private static let growAfter = 20

    private let batch: Int
    private let retry: RetrySchedule
    /// Everything up to here was taken, or is for others.
    private(set) var cursor: OutcomeCursor
    private var durable: OutcomeCursor
    private var mustMove = false
    private var load: Load?
    private var position = 0
    private var limit: Int
    private var takenInARow = 0
    private var pause: Duration?
    /// Requests for what is at ``position`` that failed.
    private var attempts = 0
    private var failedMoves = 0
    /// What was posted up to here may have been taken.
    private var unclearThrough = OutcomeCursor.start
    /// An earlier process may have posted so many of the outcomes up to `through`.
    private var doubt: (through: OutcomeCursor, left: Int)
    private(set) var figures = WebhookFigures()
    private var failingSince: Duration?

    /// - Parameters:
    ///   - cursor: of the reader, on disk.
    ///   - newest: the newest outcome: those before it may have been posted by an earlier process.
    init(_ configuration: WebhookConfiguration, at cursor: OutcomeCursor, newest: OutcomeCursor) {
        batch = configuration.batch
        retry = configuration.retry
        limit = configuration.batch
        self.cursor = cursor
        durable = cursor
        doubt = (newest, WebhookConfiguration.greatestBatch)
    }

    /// What to do now. Stays the same until that was done, or failed.
    var step: Step {
        if let pause { return .wait(pause) }
        if mustMove { return .move(to: cursor) }
        guard let load else { return .read(after: cursor) }
        return .post(post(of: load))
    }

    /// The settling time of the oldest outcome that was read and not taken.
    var oldest: WallTime? { load.flatMap { position < $0.items.count ? $0.items[position].settledAt : nil } }

    private func post(of load: Load) -> Post {
        var end = position
        var bytes = 0
        while end < load.items.count, end - position < limit {
            bytes += load.items[end].byteCount
            if end > position, bytes > Self.byteLimit { break }
            end += 1
        }
        let first = position < end ? load.items[position].cursor : OutcomeCursor(cursor.rawValue + 1)
        let isDoubtful = position < end && first <= doubt.through && doubt.left > 0
        return Post(
            items: position..<end, first: first, last: position < end ? load.items[end - 1].cursor : load.end,
            attempt: attempts + 1, missed: load.missed,
            isPossibleDuplicate: first <= unclearThrough || isDoubtful)
    }

    // MARK: What was done

    /// The cursor on disk, before the log is read. Somebody else may have moved it, and then it counts.
    mutating func found(_ cursor: OutcomeCursor) {
        guard cursor != durable else { return }
        (self.cursor, durable, load, mustMove) = (cursor, cursor, nil, false)
    }

    /// The log was read.
    mutating func take(_ load: Load) -> News? {
        figures.missed += load.missed
        (position, attempts) = (0, 0)
        guard load.items.isEmpty, load.missed == 0 else {
            self.load = load
            return load.missed > 0 ? .missed(load.missed) : nil
        }
        cursor = load.end
        mustMove = cursor.rawValue - durable.rawValue >= Self.passedLimit
        return nil
    }

    /// The wait is over.
    mutating func waited() { pause = nil }

    /// The cursor is on disk.
    mutating func moved() {
        durable = cursor
        (mustMove, failedMoves) = (false, 0)
    }

    /// - Parameter random: uniformly from 0 up to 1.
    mutating func moveFailed(random: Double) {
        failedMoves += 1
        pause = retry.delay(attempt: failedMoves, random: random)
    }

    /// A request is over.
    ///
    /// - Parameters:
    ///   - post: as ``step`` gave it.
    ///   - random: uniformly from 0 up to 1.
    mutating func answered(_ result: PostResult, to post: Post, now: Moment, random: Double) -> News? {
        figures.note(result, post)
        if result.mayBeTaken { unclearThrough = max(unclearThrough, post.last) }
        guard case .taken = result else { return failed(result, post, now: now, random: random) }
        take(post)
        guard let since = failingSince else { return nil }
        defer {
            failingSince = nil
            figures.recovered()
        }
        return .recovered(after: now.monotonic - since, failures: figures.failuresInARow)
    }

    private mutating func take(_ post: Post) {
        guard let load else { return }
        (position, attempts) = (post.items.upperBound, 0)
        if post.first <= doubt.through { doubt.left -= min(doubt.left, post.items.count) }
        if position < load.items.count {
            cursor = post.last
            self.load?.missed = 0
        } else {
            cursor = load.end
            self.load = nil
        }
        mustMove = true
        takenInARow += 1
        if limit < batch, takenInARow >= Self.growAfter {
            limit = min(limit * 2, batch)
            takenInARow = 0
        }
    }

    private mutating func failed(_ result: PostResult, _ post: Post, now: Moment, random: Double) -> News? {
        attempts += 1
        takenInARow = 0
        if case .refused(413, _) = result, post.items.count > 1 {
            limit = post.items.count / 2
            return .tooLarge(now: limit)
        }
        figures.failuresInARow += 1
        var retryAfter: Duration?
        if case .refused(_, let asked) = result { retryAfter = asked }
        let delay = retry.delay(attempt: figures.failuresInARow, retryAfter: retryAfter, random: random)
        pause = delay
        figures.nextAttempt = now.wall.advanced(by: delay)
        guard failingSince == nil else { return nil }
        failingSince = now.monotonic
        figures.failingSince = now.wall
        return .failing(result.fault ?? "")
    }
}
