internal import Holdfast
internal import NIOCore
internal import NIOPosix

/// Files that a listener goes by, and that may be replaced while it runs.
struct WatchedFiles: Sendable {
    enum Look: Equatable, Sendable {
        case unchanged, taken
        /// The former contents stay in use. Told once.
        case failed(String)
    }

    /// The interval between two looks.
    let interval: @Sendable () -> Duration
    /// Takes up changed files. May wait for the disk.
    let look: @Sendable () -> Look
    /// Called after a look that found something else.
    let tell: @Sendable (Look) -> Void
}

/// Looks at files again and again, one look at a time, until it is cancelled.
final class FileWatch: Sendable {
    private struct State: Sendable {
        var next: Scheduled<Void>?
        var isCancelled = false
    }

    private let files: WatchedFiles
    private let loop: any EventLoop
    private let state = Monitor(State())

    init(_ files: WatchedFiles, on loop: any EventLoop) {
        self.files = files
        self.loop = loop
        schedule()
    }

    func cancel() {
        let next = state.withLock { state in
            state.isCancelled = true
            return state.next.take()
        }
        next?.cancel()
    }

    private func schedule() {
        let next = loop.scheduleTask(in: TimeAmount(files.interval())) { self.look() }
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.next = next }
            return state.isCancelled
        }
        if isCancelled { next.cancel() }
    }

    private func look() {
        NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [files] in
            let look = files.look()
            if look != .unchanged { files.tell(look) }
        }
        // The pool ends with the process alone.
        .whenSuccess { self.schedule() }
    }
}
