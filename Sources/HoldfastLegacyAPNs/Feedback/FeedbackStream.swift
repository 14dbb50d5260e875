internal import Holdfast
internal import NIOCore

/// What a feedback connection has received, on its way from the event loop to the task that reads.
///
/// The event loop reads on only when the task asks: what waits here is bounded by the kernel's receive buffer, of which
/// the rest is fetched when the peer has closed.
final class FeedbackStream: Sendable {
    enum End: Sendable {
        case closed
        /// Nothing came for the silence limit.
        case silent
        /// The reading was cancelled.
        case stopped
        case failed(String)
    }

    enum Arrival: Sendable {
        /// At least one.
        case bytes([UInt8])
        /// Nothing comes behind it.
        case end(End)
    }

    private struct State: Sendable {
        var bytes: [UInt8] = []
        var end: End?
        var reader: CheckedContinuation<Arrival, Never>?

        mutating func next() -> Arrival? {
            guard bytes.isEmpty else {
                defer { bytes = [] }
                return .bytes(bytes)
            }
            return end.map { .end($0) }
        }
    }

    private let channel: any Channel
    private let state = Monitor(State())

    init(_ channel: any Channel) { self.channel = channel }

    /// What has come since the last call, or comes next. One caller at a time. When its task is cancelled: what has come,
    /// and then the end.
    func next() async -> Arrival {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let arrival = state.withLock { state in
                    let arrival = state.next()
                    if arrival == nil { state.reader = continuation }
                    return arrival
                }
                if let arrival { continuation.resume(returning: arrival) } else { channel.read() }
            }
        } onCancel: {
            end(.stopped)
        }
    }

    func close() { channel.close(promise: nil) }

    /// On the event loop.
    func put(_ bytes: ByteBuffer) {
        change { state in if state.end == nil { state.bytes += bytes.readableBytesView } }
    }

    /// From any thread; the first end counts.
    func end(_ end: End) {
        change { $0.end = $0.end ?? end }
    }

    private func change(_ body: (inout State) -> Void) {
        let resumed: (CheckedContinuation<Arrival, Never>, Arrival)? = state.withLock { state in
            body(&state)
            guard let reader = state.reader, let arrival = state.next() else { return nil }
            state.reader = nil
            return (reader, arrival)
        }
        if let (reader, arrival) = resumed { reader.resume(returning: arrival) }
    }
}
