internal import HoldfastPlatform
internal import Synchronization

/// Ends the calls of a connection from another thread, now and for good.
///
/// A call that waits is woken by a pipe. It ends with ``PQError/Kind-swift.enum/interrupted``, or in doubt where a commit may
/// be under way; either way the connection can't be used any more.
package final class PQInterruption: Sendable {
    private let isSet = Atomic(false)
    /// Readable from the interruption on. It is never read, so that everyone who waits is woken.
    let descriptor: Int32
    private let writer: Int32

    /// - Throws: `unreachable` when the process has no descriptors left.
    package init() throws(PQError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw PQError(.unreachable, "no pipe to interrupt calls by: \(SystemReason.words(errno))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        descriptor = ends[0]
        writer = ends[1]
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    package var isInterrupted: Bool { isSet.load(ordering: .acquiring) }

    /// Ends the call that waits, and every later one. Never blocks.
    package func interrupt() {
        guard !isSet.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var byte: UInt8 = 1
        _ = unsafe write(writer, &byte, 1)
    }
}

/// Numbers of `errno` in words.
enum SystemReason {
    static func words(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
