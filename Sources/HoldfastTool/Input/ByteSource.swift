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
final class StreamReader: Sendable {
    /// Bytes; what is read ahead at most.
    private static let readSize = 64 * 1024

    private struct State: Sendable {
        var pieces: [Data] = []
        /// Bytes in `pieces`.
        var waitingCount = 0
        var isReading = false
        var hasEnded = false
        var failure: POSIXError?
        var waiter: CheckedContinuation<Data, any Error>?
    }

    private let channel: DispatchIO
    private let queue = DispatchQueue(label: "holdfast.input")
    private let state = Monitor(State())

    /// - Parameter descriptor: whose own owner may close it at any time: libdispatch crashes when what it listens to is closed
    ///   behind its back, so it gets one of its own.
    init(descriptor: Int32) {
        let own = dup(descriptor)
        channel = DispatchIO(type: .stream, fileDescriptor: own, queue: queue) { _ in _ = HoldfastPlatform.close(own) }
        channel.setLimit(lowWater: 1)
    }

    func read() async throws -> Data {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                startReadingIfNeeded()
                state.withLock { $0.waiter = continuation }
                deliver()
            }
        } onCancel: {
            cancel()
        }
    }

    private func startReadingIfNeeded() {
        let start = state.withLock { state in
            guard !state.isReading, !state.hasEnded, state.waitingCount < Self.readSize else { return false }
            state.isReading = true
            return true
        }
        guard start else { return }
        channel.read(offset: 0, length: Self.readSize, queue: queue) { [self] done, data, code in
            if take(data.map { piece in Data(piece) } ?? Data(), done: done, code: code) { channel.close() }
            deliver()
        }
    }

    /// - Returns: whether nothing more will come.
    private func take(_ data: Data, done: Bool, code: Int32) -> Bool {
        state.withLock { state in
            if !data.isEmpty {
                state.pieces.append(data)
                state.waitingCount += data.count
            }
            guard done else { return false }
            state.isReading = false
            if code != 0, code != ECANCELED { state.failure = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
            // Done without bytes is the end; done after bytes is the end of one read.
            if code != 0 || data.isEmpty { state.hasEnded = true }
            return state.hasEnded
        }
    }

    private func deliver() {
        let resumed: (CheckedContinuation<Data, any Error>, Result<Data, any Error>)? = state.withLock { state in
            guard let waiter = state.waiter else { return nil }
            let result: Result<Data, any Error>
            if !state.pieces.isEmpty {
                let piece = state.pieces.removeFirst()
                state.waitingCount -= piece.count
                result = .success(piece)
            } else if let failure = state.failure {
                result = .failure(failure)
            } else if state.hasEnded {
                result = .success(Data())
            } else {
                return nil
            }
            state.waiter = nil
            return (waiter, result)
        }
        guard let (waiter, result) = resumed else { return }
        waiter.resume(with: result)
    }

    private func cancel() {
        channel.close(flags: .stop)
        state.withLock { $0.hasEnded = true }
        deliver()
    }
}
