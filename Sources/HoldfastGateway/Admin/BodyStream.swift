internal import Holdfast
internal import Hummingbird
internal import NIOCore

/// A body that is written as it comes. Says when it has ended, also where nobody wrote it: for a HEAD, and for a client that
/// went away before. A client that goes away ends it at once, and not with the next write.
final class BodyStream: Sendable {
    private struct State: Sendable {
        var isClientGone = false
        /// Ends the waiting for the next part.
        var cancel: (@Sendable () -> Void)?
    }

    private let ended: @Sendable () -> Void
    private let next: AdminPage.Answer.Next
    private let state = Monitor(State())

    init(ended: @escaping @Sendable () -> Void, next: @escaping AdminPage.Answer.Next) {
        (self.ended, self.next) = (ended, next)
    }

    // Nobody holds it any more: neither the answer nor who writes its body.
    deinit { ended() }

    /// - Parameter closed: the end of the client's connection.
    func body(until closed: EventLoopFuture<Void>) -> ResponseBody {
        // Held weakly: a connection may outlive the body.
        closed.whenComplete { [weak self] _ in self?.clientIsGone() }
        return ResponseBody { [self] writer in
            while let part = try await part() { try await writer.write(ByteBuffer(bytes: part)) }
            try await writer.finish(nil)
        }
    }

    private func part() async throws -> [UInt8]? {
        let task = Task { [next] in try await next() }
        let isClientGone = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isClientGone
        }
        if isClientGone { task.cancel() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func clientIsGone() {
        let cancel = state.withLock { state in
            state.isClientGone = true
            return state.cancel
        }
        cancel?()
    }
}
