internal import Holdfast
internal import HoldfastRequests

/// Decides what a webhook does next: read the log, post, wait, or move its cursor on disk. A pure machine: times and random
/// numbers are arguments.
///
/// One request is in flight at a time, and the cursor moves only behind outcomes that the receiver has taken. So outcomes
/// arrive in the order of the log, and none is passed over but one that the receiver refuses again and again while it takes
/// others (``LoneRefusal``).
struct WebhookMachine: Sendable {
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
    /// The last outcome that was taken, while there is no load: the next one begins with it, and a probe repeats it.
    private var kept: Item?
    private var limit: Int
    private var takenInARow = 0
    private var pause: Duration?
    /// Missed outcomes that the receiver refused to be told of alone: they are told with the next ones.
    private var carried = 0
    private var carriesOff = false
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
        if lone.witness > 0, lone.turn == .suspect, !isAtEnd, !hasWitness { return .read(after: load.end) }
        return .post(post(of: load))
    }

    /// Whether what is read now comes behind what was read before.
    var readsOn: Bool { load != nil }

    /// Whether the next load begins with the last outcome that was read before.
    var keepsLast: Bool { kept != nil }

    private var hasWitness: Bool { position + lone.witness < (load?.items.count ?? 0) }

    /// The settling time of the oldest outcome that was read and not taken.
    var oldest: WallTime? { load.flatMap { position < $0.items.count ? $0.items[position].settledAt : nil } }

    private func post(of load: Load) -> Post {
        if lone.turn == .probe { return probe(of: load) }
        let start = position + (lone.turn == .witness ? lone.witness : 0)
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
            isPossibleDuplicate: first <= unclearThrough || isDoubtful, wasOff: load.wasOff)
    }

    /// What the receiver has taken before, or a request without outcomes where that is not known: either keeps the order.
    private func probe(of load: Load) -> Post {
        let items = max(0, position - 1)..<position
        let known = items.isEmpty ? cursor : load.items[items.lowerBound].cursor
        return Post(
            items: items, first: known, last: known, attempt: attempts + 1, missed: 0,
            isPossibleDuplicate: !items.isEmpty, isProbe: true)
    }

    // MARK: What was done

    /// The time, before each step: what was passed is noted on disk before long.
    mutating func look(now: Duration) {
        guard cursor > durable, load == nil, !carries else { return }
        let since = passedSince ?? now
        passedSince = since
        if now - since >= Self.passedTime { mustMove = true }
    }

    /// Nothing is read any more: what was passed is noted.
    mutating func end() { mustMove = mustMove || cursor > durable && load == nil && !carries }

    /// Whether a gap is to be told with the next outcomes.
    private var carries: Bool { carried > 0 || carriesOff }

    /// The cursor on disk, before the log is read. Somebody else may have moved it, and then it counts.
    mutating func found(_ cursor: OutcomeCursor) {
        guard cursor != durable else { return }
        (self.cursor, durable, load, mustMove) = (cursor, cursor, nil, false)
        (lone, carried, carriesOff, kept) = (LoneRefusal(), 0, false, nil)
    }

    /// The log was read.
    mutating func take(_ load: Load) -> News? {
        figures.missed += load.missed
        if self.load != nil, lone.witness > 0 { return append(load) }
        (position, attempts) = (0, 0)
        let news = Self.news(of: load)
        if !load.items.isEmpty || load.hasGap && !carries {
            self.load = load
            self.load?.missed += carried
            self.load?.wasOff = load.wasOff || carriesOff
            (carried, carriesOff) = (0, false)
            if let kept {
                self.load?.items.insert(kept, at: 0)
                (position, self.kept) = (1, nil)
            }
        } else {
            carried += load.missed
            carriesOff = carriesOff || load.wasOff
            cursor = load.end
            mustMove = cursor.rawValue - durable.rawValue >= Self.passedLimit && !carries
        }
        return news
    }

    private mutating func append(_ more: Load) -> News? {
        load?.items += more.items
        load?.missed += more.missed
        if more.wasOff { load?.wasOff = true }
        load?.end = more.end
        return Self.news(of: more)
    }

    private static func news(of load: Load) -> News? {
        let deleted = load.missed - load.unreadable
        return deleted > 0 ? .missed(deleted) : load.wasOff ? .wasOff : nil
    }

    /// There was nothing to read for a while.
    mutating func foundNothing() { isAtEnd = load != nil }

    /// The wait is over.
    mutating func waited() {
        (pause, isAtEnd) = (nil, false)
        // It is made now, which is not to be told as a time that has passed.
        figures.nextAttempt = nil
    }

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
        if post.isProbe, post.proves(result) {
            lone.probeTaken()
            wait(retry.delay(attempt: min(lone.alternations, LoneRefusal.greatestStep), random: random), now)
            return nil
        }
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
            self.load?.wasOff = false
        } else {
            cursor = load.end
            drop()
        }
        mustMove = true
        takenInARow += 1
        if limit < batch, takenInARow >= Self.growAfter {
            limit = min(limit * 2, batch)
            takenInARow = 0
        }
    }

    /// The load is done with, up to ``position``.
    private mutating func drop() {
        kept = position > 0 ? load?.items[position - 1] : nil
        load = nil
    }

    private mutating func wait(_ delay: Duration, _ now: Moment) {
        pause = delay
        figures.nextAttempt = now.wall.advanced(by: delay)
    }

    private mutating func failed(_ result: PostResult, _ post: Post, now: Moment, random: Double) -> News? {
        attempts += 1
        takenInARow = 0
        if result.isAboutContent, post.items.count > 1 {
            limit = post.items.count / 2
            return result.status == 413 ? .tooLarge(now: limit) : .halved(status: result.status ?? 0, now: limit)
        }
        if result.isAboutContent, post.items.isEmpty, !post.isProbe, let gap = load {
            (carried, carriesOff, cursor) = (gap.missed, gap.wasOff, gap.end)
            drop()
            return nil
        }
        let goesOnAtOnce = judgeLone(result, post)
        figures.failuresInARow += 1
        var retryAfter: Duration?
        if case .refused(_, let asked) = result { retryAfter = asked }
        var delay = retry.delay(attempt: figures.failuresInARow, retryAfter: retryAfter, random: random)
        // It says that it wants no more, and is asked seldom.
        if result.status == 410 { delay = max(delay, retry.maximum) }
        if goesOnAtOnce { delay = .zero }
        wait(delay, now)
        if goesOnAtOnce { pause = nil }
        guard failingSince == nil else { return nil }
        failingSince = now.monotonic
        figures.failingSince = now.wall
        return .failing(result.fault ?? "")
    }

    /// - Returns: whether the next request goes at once.
    private mutating func judgeLone(_ result: PostResult, _ post: Post) -> Bool {
        if result.isAboutContent, post.isProbe {
            lone.probeRefused()
            return false
        }
        guard result.isAboutContent, post.items.count == 1 else {
            lone.interrupted()
            return false
        }
        guard post.items.lowerBound == position else {
            lone.witnessRefused()
            return true
        }
        loneFault = result
        return lone.suspectRefused(hasWitness: hasWitness)
    }
}
