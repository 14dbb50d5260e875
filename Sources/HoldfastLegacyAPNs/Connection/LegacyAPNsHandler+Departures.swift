internal import Holdfast
internal import HoldfastTransport
internal import NIOCore

/// Tracks when written bytes have left the machine, and when everything that arrived has been read.
struct Departures {
    /// The delay of the first look after a write that has not left yet; it doubles with each look.
    private static let firstLook = TimeAmount.milliseconds(1)
    private static let longestLook = TimeAmount.milliseconds(32)

    private var gauge = SendQueueGauge()
    private var lastProgress = NIODeadline.now()
    private var delay = Self.firstLook
    var isLooking = false

    var isWaiting: Bool { gauge.isWaiting }

    /// Bytes are written after all earlier ones have left.
    mutating func begin(at now: NIODeadline) { lastProgress = now }

    mutating func written(through position: UInt64, _ info: TCPInfo) {
        gauge.written(through: position, bytes: info.bytesTaken)
        delay = Self.firstLook
    }

    /// - Returns: the last position that has left, if it is new.
    mutating func look(_ info: TCPInfo, at now: NIODeadline) -> UInt64? {
        let (sentThrough, hasMoved) = gauge.look(acknowledged: info.bytesAcknowledged)
        if hasMoved { lastProgress = now }
        return sentThrough
    }

    mutating func nextDelay() -> TimeAmount {
        defer { delay = min(delay * 2, Self.longestLook) }
        return delay
    }

    /// The time for which the peer has taken nothing.
    func stalled(at now: NIODeadline) -> TimeAmount { now - lastProgress }
}

extension LegacyAPNsHandler {
    /// Reports departed entries, and looks again soon while some have not left.
    func lookAtDepartures() {
        // A partial write, too, goes on only when the peer takes something.
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

    /// Answers once everything that had arrived has been read, which the kernel's count proves.
    func listen(stamp: UInt64) {
        stamps.append(stamp)
        if stamps.count == 1 { answerStamps() }
    }

    private func answerStamps() {
        guard isOpen, let context, let info = TCPInfo.read(context.channel) else { return }
        // If the peer has closed, or an answer has begun, the rest is about to be read: that decides.
        if info.isEstablished, received.count >= info.bytesReceived, !session.isAnswering {
            for stamp in stamps { sink(.listened(stamp: stamp)) }
            stamps = []
            return
        }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(1)) { handler.value.answerStamps() }
    }
}
