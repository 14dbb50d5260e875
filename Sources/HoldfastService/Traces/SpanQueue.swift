internal import Holdfast

/// Spans that have ended and wait for their request. Bounded: further ones are dropped and counted, and whoever ends a span
/// never waits.
package final class SpanQueue: Sendable {
    package struct Figures: Sendable {
        /// Spans that the collector took.
        package var exported = 0
        /// Spans that found no place, as too many waited.
        package var overflowed = 0
        /// Spans that the collector refused or did not take in time.
        package var refused = 0
    }

    private struct State: Sendable {
        var spans: [SpanRecord] = []
        var figures = Figures()
        var reader: CheckedContinuation<Void, Never>?
        /// Nobody waits from now on.
        var isEnding = false
        /// The time of the reader is over.
        var isWoken = false

        mutating func takeReader() -> CheckedContinuation<Void, Never>? {
            defer { reader = nil }
            return reader
        }
    }

    /// The most spans of a request.
    static let batch = 512

    private let limit: Int
    private let state = Monitor(State())

    package init(limit: Int) { self.limit = limit }

    /// The figures now, and the spans that wait.
    package var figures: (Figures, waiting: Int) { state.withLock { ($0.figures, $0.spans.count) } }

    var isEnding: Bool { state.withLock(\.isEnding) }

    func add(_ span: SpanRecord) {
        let reader: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.spans.count < limit else {
                state.figures.overflowed += 1
                return nil
            }
            state.spans.append(span)
            return state.spans.count >= Self.batch ? state.takeReader() : nil
        }
        reader?.resume()
    }

    /// Those of the next request; none if none wait.
    func take() -> [SpanRecord] {
        state.withLock { state in
            let spans = Array(state.spans.prefix(Self.batch))
            state.spans.removeFirst(spans.count)
            return spans
        }
    }

    /// What waits goes nowhere.
    func dropRest() {
        state.withLock { state in
            state.figures.refused += state.spans.count
            state.spans = []
        }
    }

    func count(_ change: @Sendable (inout Figures) -> Void) { state.withLock { change(&$0.figures) } }

    /// Waits until a request is full, until the time is over, or until the end has begun. One caller at a time.
    func wait(atMost limit: Duration) async {
        state.withLock { $0.isWoken = false }
        let timer = Task {
            do { try await Task.sleep(for: limit) } catch { return }
            self.state.withLock { state in
                state.isWoken = true
                return state.takeReader()
            }?.resume()
        }
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.isEnding || state.isWoken || state.spans.count >= Self.batch { return true }
                state.reader = continuation
                return false
            }
            if isDue { continuation.resume() }
        }
        timer.cancel()
    }

    /// Waits for a time, or until the end has begun.
    func pause(_ time: Duration) async {
        let limit = ContinuousClock.now + time
        while !isEnding, !Task.isCancelled, ContinuousClock.now < limit {
            do { try await Task.sleep(for: min(limit - .now, .milliseconds(100))) } catch { return }
        }
    }

    /// Nobody waits from now on.
    func end() {
        state.withLock { state in
            state.isEnding = true
            return state.takeReader()
        }?.resume()
    }
}
