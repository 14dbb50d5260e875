internal import Holdfast
internal import HoldfastTransport
internal import NIOCore

/// One HTTP/2 connection, as the engine sees it.
final class APNsConnection: Connection, RetirableConnection {
    private let room = Monitor((capacity: 1, streams: 1))
    let loop: any EventLoop
    let inbox: HandOutInbox<APNsHandler>

    init(loop: any EventLoop) {
        self.loop = loop
        inbox = HandOutInbox(loop: loop)
    }

    func setRoom(capacity: Int, streams: Int) { room.withLock { $0 = (capacity, streams) } }

    var capacity: Int { room.withLock(\.capacity) }

    var streams: Int { room.withLock(\.streams) }

    func send(_ handOut: HandOut) { inbox.append(handOut) }

    /// What comes meanwhile is not sent: the end answers for it.
    func close(deadline: Duration) {
        // Here and not on the loop, which may look into the inbox once more before it hears of this.
        inbox.seal()
        inbox.perform { $0.close(deadline: deadline) }
    }

    func retire() -> EventLoopFuture<Void> {
        inbox.perform { $0.retire() }
        return loop.submit {}
    }
}
