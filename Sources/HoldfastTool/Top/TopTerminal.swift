internal import Dispatch
internal import Foundation
internal import Holdfast
internal import HoldfastPlatform

/// The terminal of this process, taken over to draw on it, and given back.
final class TopTerminal: Sendable {
    private let usual: TerminalMode
    private let isTaken = Monitor(false)

    /// `nil` where standard input or output is no terminal, or is one that knows no orders.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let kind = environment["TERM"] ?? ""
        guard isatty(STDOUT_FILENO) == 1, !kind.isEmpty, kind != "dumb", let mode = TerminalMode(of: STDIN_FILENO)
        else {
            return nil
        }
        usual = mode
    }

    var size: TopSize {
        let extent = TerminalExtent(of: STDOUT_FILENO)
        return TopSize(columns: extent?.columns ?? 80, rows: extent?.rows ?? 24)
    }

    /// Takes the terminal over, or does nothing if that is done.
    func take() {
        let isNew = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isNew else { return }
        usual.raw.apply(to: STDIN_FILENO)
        write(TopPainter.begin)
    }

    /// Gives it back as it was found, or does nothing if that is done.
    func giveBack() {
        let isOurs = isTaken.withLock { isTaken in
            defer { isTaken = false }
            return isTaken
        }
        guard isOurs else { return }
        write(TopPainter.end)
        usual.apply(to: STDIN_FILENO)
    }

    /// - Returns: false for a terminal that has gone away.
    @discardableResult
    func write(_ text: String) -> Bool {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
            return true
        } catch {
            return false
        }
    }
}

/// Tells of orders to stop by job control, in place of stopping.
final class StopWatch {
    private let source: any DispatchSourceSignal

    init(_ body: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: DispatchQueue(label: "holdfast.stop"))
        source.setEventHandler(handler: body)
        source.resume()
    }

    deinit { source.cancel() }
}
