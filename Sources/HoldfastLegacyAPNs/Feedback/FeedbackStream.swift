internal import Holdfast
internal import NIOCore

/// The received bytes of a feedback connection, on their way from the event loop to the reading task.
///
/// The event loop reads only when the task asks. So the bytes that wait here are bounded by the kernel's receive
/// buffer, the rest of which is fetched when the peer has closed.
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
        /// At least one byte.
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

    /// The bytes received since the last call, or the next ones. One caller at a time. When its task is cancelled: the
    /// bytes received, and then the end.
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

    /// Appends bytes. On the event loop.
    func put(_ bytes: ByteBuffer) {
        change { state in if state.end == nil { state.bytes += bytes.readableBytesView } }
    }

    /// Ends the stream. From any thread; the first end counts.
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
