/// Things for one reader, in their order. Unlike that of a stream, its waiting is not ended by cancellation: what must be
/// seen to the end is.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var waiting: [Element] = []
        var reader: CheckedContinuation<Element, Never>?
    }

    private let state = Monitor(State())

    /// From any thread.
    func put(_ element: Element) {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            if state.reader == nil { state.waiting.append(element) }
            return state.reader
        }
        reader?.resume(returning: element)
    }

    /// The next one, when there is one. One caller at a time.
    func next() async -> Element {
        await withCheckedContinuation { continuation in
            let first: Element? = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.reader = continuation
                return nil
            }
            if let first { continuation.resume(returning: first) }
        }
    }
}

/// Lets one caller in at a time, in the order of their coming.
final class Turnstile: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Monitor(State())

    func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayEnter { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
