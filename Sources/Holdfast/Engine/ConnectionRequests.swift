/// Requests for connections, by number, from Consumers to the tasks that make the connections.
final class ConnectionRequests: Sendable {
    private struct Channel: Sendable {
        let stream: AsyncStream<Int>
        let continuation: AsyncStream<Int>.Continuation

        init() {
            // A Consumer asks for one connection at a time, so one place is enough.
            (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        }
    }

    private let channels = Monitor<[Int: Channel]>([:])

    func put(_ number: Int, for route: Int) { channel(route).continuation.yield(number) }

    /// For one reader.
    func stream(for route: Int) -> AsyncStream<Int> { channel(route).stream }

    /// The Consumer asks for nothing more.
    func end(_ route: Int) { channels.withLock { $0.removeValue(forKey: route) }?.continuation.finish() }

    private func channel(_ route: Int) -> Channel {
        channels.withLock { channels in
            if let channel = channels[route] { return channel }
            let channel = Channel()
            channels[route] = channel
            return channel
        }
    }
}
