internal import Holdfast
package import HoldfastTransport
internal import NIOCore
internal import NIOHTTP1

/// Posts over HTTP/1.1, on one connection while requests follow each other.
///
/// Over the project's own dialling and TLS, as everything else goes: the certificate is judged by libcrypto for the very name,
/// proxies are the same, and nothing goes in the clear to another machine, or to this process itself.
package final class HTTPPoster: Posting {
    /// The timeout of resolving, connecting and TLS.
    static let connectLimit: Duration = .seconds(10)

    private let target: PostTarget
    /// The connection of the last request, open or closed.
    private let kept = Monitor<(any Channel)?>(nil)
    /// Listeners that are never connected to.
    private let avoided: OwnListeners

    package init(_ target: PostTarget, avoiding avoided: OwnListeners = .shared) {
        (self.target, self.avoided) = (target, avoided)
    }

    package func post(_ request: PostRequest, within limit: Duration) async -> PostResult {
        await exchange(request, within: limit, bodyLimit: 0).result
    }

    /// Posts, and reads the answer with its body. Cancelled, it ends at once.
    ///
    /// - Parameter bodyLimit: the most bytes of the body that are kept.
    package func exchange(_ request: PostRequest, within limit: Duration, bodyLimit: Int) async -> PostAnswer {
        let channel: any Channel
        do throws(ConnectError) {
            channel = try await connection(within: limit)
        } catch {
            return PostAnswer(.notSent(error.message), connectError: error)
        }
        var headers = HTTPHeaders([
            ("host", target.address.authority), ("user-agent", "Holdfast"), ("content-type", request.contentType),
            ("content-length", "\(request.body.count)"), ("accept", "*/*"),
        ])
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) { headers.add(name: name, value: value) }
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: target.address.target, headers: headers)
        let answer = channel.eventLoop.makePromise(of: PostAnswer.self)
        let call = PostCall(head: head, body: request.body, limit: limit, bodyLimit: bodyLimit, answer: answer)
        return await withTaskCancellationHandler {
            // A write that fails closes the connection, which ends the call.
            channel.writeAndFlush(call).whenFailure { error in
                let isClosed = error as? ChannelError == .ioOnClosedChannel
                answer.succeed(
                    PostAnswer(
                        .unclear(
                            isClosed
                                ? "it closed the connection before it answered"
                                : "the connection broke: \(Dialer.cause(error))")))
            }
            do {
                return try await answer.futureResult.get()
            } catch {
                return PostAnswer(.unclear("\(error)"))
            }
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    package func close() async {
        let channel = kept.withLock { channel in
            defer { channel = nil }
            return channel
        }
        do { try await channel?.close() } catch {}
    }

    private func connection(within limit: Duration) async throws(ConnectError) -> any Channel {
        if let channel = kept.withLock({ $0 }), channel.isActive { return channel }
        var dialer = try target.dialer(within: min(limit, Self.connectLimit))
        dialer.avoided = avoided
        let isCleartext = target.address.isCleartext
        let channel: any Channel = try await dialer.connect(on: Dialer.nextLoop()) { channel, _, ready in
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            try channel.pipeline.syncOperations.addHandler(PostHandler(isCleartext: isCleartext, ready: ready))
        }
        kept.withLock { $0 = channel }
        return channel
    }
}
