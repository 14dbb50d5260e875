internal import Holdfast

/// Decides what a webhook does next: read the log, post, wait, or move its cursor on disk. A pure machine: times and random
/// numbers are arguments.
///
/// One request is in flight at a time, and the cursor moves only behind outcomes that the receiver has taken. So outcomes
/// arrive in the order of the log, and none is passed over but one that the receiver refuses while it takes the next
/// (``LoneRefusal``).
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
        /// It refuses a request with this status; at most so many outcomes from now on.
        case halved(status: Int, now: Int)
        /// Outcomes were passed over.
        case skipped(Int, last: OutcomeCursor, fault: String)
    }

    /// The most bytes of outcomes in a request, if it has more than one.
    static let byteLimit = 1 << 20
    /// Outcomes for others that are passed before that is noted on disk.
    static let passedLimit: UInt64 = 10_000
    /// How long it may take until that is noted where there are fewer.
    static let passedTime = Duration.seconds(5)
    /// Requests taken in a row after which one that was too large is tried larger again.
    private static let growAfter = 20

    private let batch: Int
    private let retry: RetrySchedule
    /// Everything up to here was taken, or is for others.
    private(set) var cursor: OutcomeCursor
    private var durable: OutcomeCursor
    private var mustMove = false
    /// Since when something was passed that is not on disk.
    private var passedSince: Duration?
    private var load: Load?
    private var position = 0
    private var limit: Int
    private var takenInARow = 0
    private var pause: Duration?
    /// Missed outcomes that the receiver refused to be told of alone: they are told with the next ones.
    private var carried = 0
    private var lone = LoneRefusal()
    /// Why the outcome at ``position`` was refused last.
    private var loneFault: PostResult?
    /// Whether there is nothing behind the load, so that no witness is waited for.
    private var isAtEnd = false
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
        if lone.witness > 0, !lone.isWitnessDue, !isAtEnd, !hasWitness { return .read(after: load.end) }
        return .post(post(of: load))
    }

    /// Whether what is read now comes behind what was read before.
    var readsOn: Bool { load != nil }

    private var hasWitness: Bool { position + lone.witness < (load?.items.count ?? 0) }

    /// The settling time of the oldest outcome that was read and not taken.
    var oldest: WallTime? { load.flatMap { position < $0.items.count ? $0.items[position].settledAt : nil } }

    private func post(of load: Load) -> Post {
        let start = position + (lone.isWitnessDue ? lone.witness : 0)
        var end = start
        var bytes = 0
        while end < load.items.count, end - start < (lone.hasBegun ? 1 : limit) {
            bytes += load.items[end].byteCount
            if end > start, bytes > Self.byteLimit { break }
            end += 1
        }
        let first = start < end ? load.items[start].cursor : OutcomeCursor(cursor.rawValue + 1)
        let isDoubtful = start < end && first <= doubt.through && doubt.left > 0
        return Post(
            items: start..<end, first: first, last: start < end ? load.items[end - 1].cursor : load.end,
            attempt: attempts + 1, missed: load.missed,
            isPossibleDuplicate: first <= unclearThrough || isDoubtful)
    }

    // MARK: What was done

    /// The time, before each step: what was passed is noted on disk before long.
    mutating func look(now: Duration) {
        guard cursor > durable, load == nil, carried == 0 else { return }
        let since = passedSince ?? now
        passedSince = since
        if now - since >= Self.passedTime { mustMove = true }
    }

    /// Nothing is read any more: what was passed is noted.
    mutating func end() { mustMove = mustMove || cursor > durable && load == nil && carried == 0 }

    /// The cursor on disk, before the log is read. Somebody else may have moved it, and then it counts.
    mutating func found(_ cursor: OutcomeCursor) {
        guard cursor != durable else { return }
        (self.cursor, durable, load, mustMove) = (cursor, cursor, nil, false)
        (lone, carried) = (LoneRefusal(), 0)
    }

    /// The log was read.
    mutating func take(_ load: Load) -> News? {
        figures.missed += load.missed
        if self.load != nil, lone.witness > 0 { return append(load) }
        (position, attempts) = (0, 0)
        let news = load.missed > 0 ? News.missed(load.missed) : nil
        if !load.items.isEmpty || load.missed > 0 && carried == 0 {
            self.load = load
            self.load?.missed += carried
            carried = 0
        } else {
            carried += load.missed
            cursor = load.end
            mustMove = cursor.rawValue - durable.rawValue >= Self.passedLimit && carried == 0
        }
        return news
    }

    private mutating func append(_ more: Load) -> News? {
        load?.items += more.items
        load?.missed += more.missed
        load?.end = more.end
        return more.missed > 0 ? .missed(more.missed) : nil
    }

    /// There was nothing to read for a while.
    mutating func foundNothing() { isAtEnd = load != nil }

    /// The wait is over.
    mutating func waited() { (pause, isAtEnd) = (nil, false) }

    /// The cursor is on disk.
    mutating func moved() {
        (durable, passedSince) = (cursor, nil)
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
        let skipped = skip(before: post)
        take(post)
        guard let since = failingSince else { return skipped }
        defer {
            failingSince = nil
            figures.recovered()
        }
        // What was passed over goes before that it is well again: that is seen anyway.
        return skipped ?? .recovered(after: now.monotonic - since, failures: figures.failuresInARow)
    }

    /// The receiver takes what is behind the outcomes that it refuses: they are passed over.
    private mutating func skip(before post: Post) -> News? {
        defer { lone = LoneRefusal() }
        let count = post.items.lowerBound - position
        guard count > 0, let load, let fault = loneFault else { return nil }
        let last = load.items[post.items.lowerBound - 1].cursor
        figures.skipped(count, last: last, fault)
        limit = batch
        return .skipped(count, last: last, fault: fault.fault ?? "")
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
        if result.isAboutContent, post.items.count > 1 {
            limit = post.items.count / 2
            return result.status == 413 ? .tooLarge(now: limit) : .halved(status: result.status ?? 0, now: limit)
        }
        if result.isAboutContent, post.items.isEmpty, let gap = load {
            (carried, cursor, load) = (gap.missed, gap.end, nil)
            return nil
        }
        let isWitnessNext = judgeLone(result, post)
        figures.failuresInARow += 1
        var retryAfter: Duration?
        if case .refused(_, let asked) = result { retryAfter = asked }
        var delay = retry.delay(attempt: figures.failuresInARow, retryAfter: retryAfter, random: random)
        // It says that it wants no more, and is asked seldom.
        if result.status == 410 { delay = max(delay, retry.maximum) }
        if isWitnessNext { delay = .zero }
        pause = isWitnessNext ? nil : delay
        figures.nextAttempt = now.wall.advanced(by: delay)
        guard failingSince == nil else { return nil }
        failingSince = now.monotonic
        figures.failingSince = now.wall
        return .failing(result.fault ?? "")
    }

    /// - Returns: whether a witness goes at once.
    private mutating func judgeLone(_ result: PostResult, _ post: Post) -> Bool {
        guard result.isAboutContent, post.items.count == 1 else {
            lone.interrupted()
            return false
        }
        guard post.items.lowerBound == position else {
            lone.witnessRefused()
            return false
        }
        loneFault = result
        return lone.refused(hasWitness: hasWitness)
    }
}
