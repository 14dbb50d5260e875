/// Finds requests that are past their deadline, and checks whether the connection is alive.
///
/// A pure machine.
struct LivenessClock {
    enum Check: Equatable {
        case fine
        /// Ask for a sign of life.
        case ping
        case dead
    }

    /// The interval in which started requests are past their deadline together.
    static let startsTogether = Duration.seconds(1)

    private let sendDeadline: Duration
    private let pingAfter: Duration
    private let pingDeadline: Duration
    /// Streams that were started together, oldest first: the first and the last time, and the stream number behind them.
    private var starts: [(first: Duration, last: Duration, streamID: UInt32)] = []
    private var lastHeard = Duration.zero
    private var pingSent: Duration?
    private var ticks = 0

    init(sendDeadline: Duration, pingAfter: Duration, pingDeadline: Duration) {
        // With a deadline of zero the clock would be looked at without end.
        self.sendDeadline = max(sendDeadline, .milliseconds(1))
        self.pingAfter = pingAfter
        self.pingDeadline = pingDeadline
    }

    mutating func start(at now: Duration) { lastHeard = now }

    mutating func heard(at now: Duration) {
        lastHeard = now
        pingSent = nil
    }

    // MARK: Deadlines

    /// Requests have been started: all streams below `streamID` by now.
    mutating func started(before streamID: UInt32, at now: Duration) {
        if let last = starts.indices.last, now - starts[last].first < Self.startsTogether {
            starts[last].last = now
            starts[last].streamID = streamID
        } else {
            starts.append((now, now, streamID))
        }
    }

    /// When ``boundary(at:)`` moves next.
    var nextDeadline: Duration? { starts.first.map { $0.last + sendDeadline } }

    /// Requests on streams below the result are past their deadline.
    mutating func boundary(at now: Duration) -> UInt32 {
        var boundary: UInt32 = 0
        while let first = starts.first, now - first.last >= sendDeadline {
            boundary = first.streamID
            starts.removeFirst()
        }
        return boundary
    }

    // MARK: Signs of life

    /// Once a tick.
    mutating func check(at now: Duration) -> Check {
        ticks += 1
        if let pingSent { return now - pingSent >= pingDeadline ? .dead : .fine }
        guard now - lastHeard >= pingAfter else { return .fine }
        pingSent = now
        return .ping
    }

    /// Once in sixty ticks.
    var isMinuteTick: Bool { ticks % 60 == 0 }
}
