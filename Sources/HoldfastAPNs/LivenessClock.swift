internal import NIOCore

/// Which requests are past their deadline, and whether the connection is alive. Told the time once a second.
///
/// A pure machine.
struct LivenessClock {
    enum Check: Equatable {
        case fine
        /// Ask for a sign of life.
        case ping
        case dead
    }

    private let sendDeadline: TimeAmount
    private let pingAfter: TimeAmount
    private let pingDeadline: TimeAmount
    /// Stream numbers with the time at which they were next, a second or more apart, oldest first.
    private var starts: [(at: NIODeadline, streamID: UInt32)] = []
    private var lastHeard = NIODeadline.uptimeNanoseconds(0)
    private var pingSent: NIODeadline?
    private var ticks = 0

    init(sendDeadline: Duration, pingAfter: Duration, pingDeadline: Duration) {
        self.sendDeadline = TimeAmount(sendDeadline)
        self.pingAfter = TimeAmount(pingAfter)
        self.pingDeadline = TimeAmount(pingDeadline)
    }

    mutating func start(at now: NIODeadline) { lastHeard = now }

    mutating func heard(at now: NIODeadline) {
        lastHeard = now
        pingSent = nil
    }

    /// Requests on streams below the result are past their deadline.
    mutating func boundary(at now: NIODeadline, nextStreamID: UInt32) -> UInt32 {
        starts.append((now, nextStreamID))
        var boundary: UInt32 = 0
        while let first = starts.first, now - first.at >= sendDeadline {
            boundary = first.streamID
            starts.removeFirst()
        }
        return boundary
    }

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
