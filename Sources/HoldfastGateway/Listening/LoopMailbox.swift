internal import Holdfast
internal import NIOCore

/// Brings pieces from any thread to an event loop: all that come together in one hop.
final class LoopMailbox<Piece: Sendable>: Sendable {
    private let loop: any EventLoop
    private let pieces = Monitor<[Piece]>([])
    private let receive: @Sendable ([Piece]) -> Void

    /// - Parameter receive: called on `loop`.
    init(on loop: any EventLoop, receive: @escaping @Sendable ([Piece]) -> Void) {
        self.loop = loop
        self.receive = receive
    }

    func put(_ piece: Piece) {
        let isFirst = pieces.withLock { pieces in
            pieces.append(piece)
            return pieces.count == 1
        }
        guard isFirst else { return }
        loop.execute { [self] in
            var taken: [Piece] = []
            pieces.withLock { swap(&taken, &$0) }
            receive(taken)
        }
    }
}
