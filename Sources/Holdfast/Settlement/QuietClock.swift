/// Says what has been quiet for long enough on a connection on which silence counts as success.
///
/// An entry's clock starts when it has left the machine's send queue: a peer that stops reading must not confirm what
/// never left. Its time is monotonic, and each look at it counts for at most ``greatestStep``: a machine that was paused
/// for a minute has not listened for a minute. What is quiet is confirmed only after the connection has listened past that
/// moment, since the error may lie in the socket.
///
/// A pure machine; its own time starts at zero.
struct QuietClock: Sendable {
    /// The most time that one look at the clock adds.
    static let greatestStep = Duration.seconds(1)
    /// Into how many marks a period is divided at most, whatever the traffic.
    private static let marksInPeriod = 16

    private struct Mark: Sendable {
        var through: UInt64
        /// When the first of them left.
        let opened: Duration
        /// When the last of them left.
        var left: Duration
    }

    let period: Duration
    /// Nobody asks what is quiet, only whether everything is: the last mark is enough.
    private let tellsIdleOnly: Bool
    private var time = Duration.zero
    private var lastLook: Duration?
    private var marks: [Mark] = []
    private var head = 0
    private var question: (stamp: UInt64, through: UInt64)?
    private var nextStamp: UInt64 = 1

    init(period: Duration, tellsIdleOnly: Bool = false) {
        self.period = period
        self.tellsIdleOnly = tellsIdleOnly
    }

    private var hasMarks: Bool { head < marks.count }

    /// Time has passed. To be called at least every ``greatestStep`` while something is unconfirmed; else its time merely
    /// goes slower.
    mutating func look(now: Duration) {
        if let lastLook, now > lastLook { time += min(now - lastLook, Self.greatestStep) }
        lastLook = now
    }

    /// Everything up to `position` has left.
    ///
    /// Under steady traffic a mark gathers what leaves within a sixteenth of the period, and no longer: each entry becomes
    /// quiet, however busy the connection is.
    mutating func sent(through position: UInt64) {
        guard let last = hasMarks ? marks.last : nil else { return append(position) }
        guard position > last.through else { return }
        if tellsIdleOnly || time - last.opened < period / Self.marksInPeriod {
            marks[marks.count - 1].through = position
            marks[marks.count - 1].left = time
        } else {
            append(position)
        }
    }

    private mutating func append(_ position: UInt64) {
        marks.append(Mark(through: position, opened: time, left: time))
    }

    /// The stamp to listen with, if something is quiet that no listening has covered yet.
    mutating func ask() -> UInt64? {
        guard question == nil else { return nil }
        var through: UInt64?
        while hasMarks, marks[head].left + period <= time {
            through = marks[head].through
            head += 1
        }
        if head > 16 {
            marks.removeFirst(head)
            head = 0
        }
        guard let through else { return nil }
        defer { nextStamp += 1 }
        question = (nextStamp, through)
        return nextStamp
    }

    /// The connection has listened.
    ///
    /// - Returns: the position through which silence counts; nil when the stamp is not the one that was asked for.
    mutating func listened(_ stamp: UInt64) -> UInt64? {
        guard let asked = question, asked.stamp == stamp else { return nil }
        question = nil
        return asked.through
    }

    /// When to look again, counted from the last look; nil while nothing waits.
    var nextLook: Duration? {
        guard question == nil, hasMarks, let lastLook else { return nil }
        let rest = marks[head].left + period - time
        return lastLook + min(max(rest, .milliseconds(1)), Self.greatestStep)
    }

    /// Whether everything that left has been quiet for the period. For those who owe a barrier when it is idle.
    var isIdle: Bool { hasMarks && marks[marks.count - 1].left + period <= time }
}
