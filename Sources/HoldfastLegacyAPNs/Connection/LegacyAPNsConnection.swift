internal import Holdfast
internal import HoldfastTransport
internal import NIOCore

/// One connection of the binary protocol, as the engine sees it.
final class LegacyAPNsConnection: CumulativeConnection, RetirableConnection {
    /// The most entries that may be here and have not left the machine: enough to fill a long line, and few enough to
    /// hold in memory (35 MB at 2 KB each).
    static let capacity = 16_384

    let loop: any EventLoop
    let inbox: HandOutInbox<LegacyAPNsHandler>

    init(loop: any EventLoop) {
        self.loop = loop
        inbox = HandOutInbox(loop: loop)
    }

    var capacity: Int { Self.capacity }
    var canWriteBarrier: Bool { !inbox.hasEnded }

    func send(_ handOut: HandOut) { inbox.append(handOut) }

    func listen(stamp: UInt64) { inbox.perform { $0.listen(stamp: stamp) } }

    /// Writes a barrier behind everything taken so far.
    func writeBarrier() {
        inbox.seal()
        inbox.perform { $0.writeBarrier() }
    }

    func retire() -> EventLoopFuture<Void> {
        inbox.perform { $0.drain() }
        return loop.submit {}
    }

    func close(deadline: Duration) {
        inbox.seal()
        inbox.perform { $0.close(deadline: deadline) }
    }
}
