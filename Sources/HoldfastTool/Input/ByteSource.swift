internal import Dispatch
internal import Foundation
internal import Holdfast
internal import HoldfastPlatform
internal import HoldfastTransport

/// Where the bytes of an input come from, a piece at a time.
enum ByteSource {
    case file(FileHandle)
    case stream(StreamReader)

    /// Bytes of one read of a file.
    static let fileReadSize = 256 * 1024

    /// The next piece; empty at the end, and when the task is cancelled while it waits.
    func read(name: String) async throws(ToolError) -> Data {
        do {
            switch self {
            case .file(let handle): return try handle.read(upToCount: Self.fileReadSize) ?? Data()
            case .stream(let reader): return try await reader.read()
            }
        } catch {
            throw ToolError(.inputOutput, "\(name) could not be read: \(FileFailure.words(error))")
        }
    }
}

/// Reads a pipe or a terminal: hands out what there is as soon as there is something, and can be cancelled while there is
/// nothing.
///
/// Waits with poll(2) on a thread of its own. libdispatch's channels crash now and then at the end of a pipe: they go on
/// listening through the descriptor that the process was given, to what they have freed.
final class StreamReader: Sendable {
    /// Bytes of one read.
    private static let readSize = 64 * 1024
    /// Milliseconds, after which a wait that was cancelled is ended.
    private static let patience: Int32 = 1000

    private struct State: Sendable {
        var hasEnded = false
        var waiter: CheckedContinuation<Data, any Error>?
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "holdfast.input")
    private let state = Monitor(State())

    /// - Parameter descriptor: whose own owner may close it at any time.
    init(descriptor: Int32) { self.descriptor = dup(descriptor) }

    deinit { _ = HoldfastPlatform.close(descriptor) }

    /// The next bytes; empty at the end, and when the task is cancelled. One call at a time.
    func read() async throws -> Data {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.waiter = continuation }
                    return state.hasEnded
                }
                if hasEnded { return continuation.resume(returning: Data()) }
                queue.async { [self] in finish(Result { try wait() }) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.hasEnded = true
                return state.waiter.take()
            }
            waiter?.resume(returning: Data())
        }
    }

    /// Blocks until there is something, or the end.
    private func wait() throws -> Data {
        var buffer = [UInt8](repeating: 0, count: Self.readSize)
        while !state.withLock({ $0.hasEnded }) {
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&interest, 1, Self.patience)
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            let count = unsafe HoldfastPlatform.read(descriptor, &buffer, buffer.count)
            if count >= 0 { return Data(buffer.prefix(count)) }
            // Somebody who shares the pipe may have taken the bytes, or told it not to block.
            guard errno == EINTR || errno == EAGAIN else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
        return Data()
    }

    private func finish(_ result: Result<Data, any Error>) {
        let waiter = state.withLock { state in
            let hasMore = if case .success(let data) = result { !data.isEmpty } else { false }
            if !hasMore { state.hasEnded = true }
            // Nobody waits after a cancellation.
            return state.waiter.take()
        }
        waiter?.resume(with: result)
    }
}
