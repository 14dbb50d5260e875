internal import Holdfast
internal import HoldfastTransport
internal import NIOCore

/// When what was written has left the machine, and when everything that has come was heard.
struct Departures {
    /// The first look after something was written and had not left yet; the next ones wait twice as long each time.
    private static let firstLook = TimeAmount.milliseconds(1)
    private static let longestLook = TimeAmount.milliseconds(32)

    private var gauge = SendQueueGauge()
    private var lastProgress = NIODeadline.now()
    private var delay = Self.firstLook
    var isLooking = false

    var isWaiting: Bool { gauge.isWaiting }

    /// The first bytes after all others had left.
    mutating func begin(at now: NIODeadline) { lastProgress = now }

    mutating func written(through position: UInt64, _ info: TCPInfo) {
        gauge.written(through: position, bytes: info.bytesTaken)
        delay = Self.firstLook
    }

    /// - Returns: the last position that has left, when there is a new one.
    mutating func look(_ info: TCPInfo, at now: NIODeadline) -> UInt64? {
        let (sentThrough, hasMoved) = gauge.look(acknowledged: info.bytesAcknowledged)
        if hasMoved { lastProgress = now }
        return sentThrough
    }

    mutating func nextDelay() -> TimeAmount {
        defer { delay = min(delay * 2, Self.longestLook) }
        return delay
    }

    /// For how long the peer has taken nothing.
    func stalled(at now: NIODeadline) -> TimeAmount { now - lastProgress }
}

extension LegacyAPNsHandler {
    /// Reports what has left, and looks again soon while something has not.
    func lookAtDepartures() {
        // A write that the kernel has taken in part only moves on, too, when the peer takes something.
        guard isOpen, departures.isWaiting || pendingWrites > 0, let context, let info = TCPInfo.read(context.channel)
        else { return }
        if let position = departures.look(info, at: .now()) { sink(.sent(through: .position(position))) }
        guard departures.isWaiting, !departures.isLooking else { return }
        departures.isLooking = true
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: departures.nextDelay()) {
            handler.value.departures.isLooking = false
            handler.value.lookAtDepartures()
            handler.value.endIfFlushed()
        }
    }

    /// Answers when everything that had arrived has been read, which the kernel's count proves.
    func listen(stamp: UInt64) {
        stamps.append(stamp)
        if stamps.count == 1 { answerStamps() }
    }

    private func answerStamps() {
        guard isOpen, let context, let info = TCPInfo.read(context.channel) else { return }
        // Where the peer has closed, or an answer has begun, the rest is about to be read: that decides.
        if info.isEstablished, received.count >= info.bytesReceived, !session.isAnswering {
            for stamp in stamps { sink(.listened(stamp: stamp)) }
            stamps = []
            return
        }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(1)) { handler.value.answerStamps() }
    }
}
