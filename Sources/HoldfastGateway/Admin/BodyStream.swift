internal import HoldfastTransport
internal import Hummingbird
internal import NIOCore

/// A body that is written as it comes. Says when it has ended, also where nobody wrote it: for a HEAD, and for a client that
/// went away before. A client that goes away ends it at once, and not with the next write.
final class BodyStream: Sendable {
    private let ended: @Sendable () -> Void
    private let next: AdminPage.Answer.Next

    init(ended: @escaping @Sendable () -> Void, next: @escaping AdminPage.Answer.Next) {
        (self.ended, self.next) = (ended, next)
    }

    // Nobody holds it any more: neither the answer nor who writes its body.
    deinit { ended() }

    /// - Parameter channel: the client's, with a ``ClientWatch``.
    func body(to channel: any Channel) -> ResponseBody {
        ResponseBody { [self] writer in
            while let part = try await ClientWatch.untilClosed(channel, next) {
                try await writer.write(ByteBuffer(bytes: part))
            }
            try await writer.finish(nil)
        }
    }
}
