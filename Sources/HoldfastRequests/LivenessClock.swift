internal import NIOCore

/// Which requests are past their deadline, and whether the connection is alive.
///
/// A pure machine.
struct LivenessClock {
    enum Check: Equatable {
        case fine
        /// Ask for a sign of life.
        case ping
        case dead
    }

    /// Requests that were started within so long of the first are past their deadline together.
    static let startsTogether = TimeAmount.seconds(1)

    private let sendDeadline: TimeAmount
    private let pingAfter: TimeAmount
    private let pingDeadline: TimeAmount
    /// Streams that were started together, oldest first: the first and the last time, and the stream number behind them.
    private var starts: [(first: NIODeadline, last: NIODeadline, streamID: UInt32)] = []
    private var lastHeard = NIODeadline.uptimeNanoseconds(0)
    private var pingSent: NIODeadline?
    private var ticks = 0

    init(sendDeadline: Duration, pingAfter: Duration, pingDeadline: Duration) {
        // A deadline that is over as soon as a request is written would have the clock looked at without end.
        self.sendDeadline = max(TimeAmount(sendDeadline), .milliseconds(1))
        self.pingAfter = TimeAmount(pingAfter)
        self.pingDeadline = TimeAmount(pingDeadline)
    }

    mutating func start(at now: NIODeadline) { lastHeard = now }

    mutating func heard(at now: NIODeadline) {
        lastHeard = now
        pingSent = nil
    }

    // MARK: Deadlines

    /// Requests have been started: all streams below `streamID` by now.
    mutating func started(before streamID: UInt32, at now: NIODeadline) {
        if let last = starts.indices.last, now - starts[last].first < Self.startsTogether {
            starts[last].last = now
            starts[last].streamID = streamID
        } else {
            starts.append((now, now, streamID))
        }
    }

    /// When ``boundary(at:)`` moves next.
    var nextDeadline: NIODeadline? { starts.first.map { $0.last + sendDeadline } }

    /// Requests on streams below the result are past their deadline.
    mutating func boundary(at now: NIODeadline) -> UInt32 {
        var boundary: UInt32 = 0
        while let first = starts.first, now - first.last >= sendDeadline {
            boundary = first.streamID
            starts.removeFirst()
        }
        return boundary
    }

    // MARK: Signs of life

    /// Once a tick.
    mutating func check(at now: NIODeadline) -> Check {
        ticks += 1
        if let pingSent { return now - pingSent >= pingDeadline ? .dead : .fine }
        guard now - lastHeard >= pingAfter else { return .fine }
        pingSent = now
        return .ping
    }

    /// Once in sixty ticks.
    var isMinuteTick: Bool { ticks % 60 == 0 }
}
