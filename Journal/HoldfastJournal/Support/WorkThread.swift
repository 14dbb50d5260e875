import Foundation
import Holdfast

/// A thread that does work left for it, everything that waits at a time.
///
/// Leaving work never blocks, and wakes the thread only when it sleeps.
final class WorkThread<Item: Sendable>: Sendable {
    private struct Box: Sendable {
        var items: [Item] = []
        var weight = 0
        var poked = false
        var sleeping = false
        var closing = false
    }

    enum Answer {
        case taken
        /// The bound on what may wait is reached.
        case full
        case closed
    }

    private let box = Monitor(Box())
    private let ended = Monitor(false)
    private let greatestWeight: Int
    private let interval: TimeInterval
    private let identity = Monitor<ObjectIdentifier?>(nil)

    /// - Parameters:
    ///   - interval: how long the thread sleeps at most, in seconds.
    ///   - greatestWeight: the bound on the weight of what waits.
    init(interval: TimeInterval, greatestWeight: Int) {
        self.interval = interval
        self.greatestWeight = greatestWeight
    }

    /// Starts the thread. To be called once.
    ///
    /// - Parameters:
    ///   - work: does what waits. Empty when poked, or when the interval is over.
    ///   - finish: after the last work.
    func start(name: String, work: @escaping @Sendable ([Item]) -> Void, finish: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            identity.withLock { identity in identity = ObjectIdentifier(Thread.current) }
            while let items = next() { work(items) }
            finish()
            ended.withLock { ended in ended = true }
            ended.broadcast()
        }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Leaves an item. Never blocks.
    func leave(_ item: Item, weight: Int = 0) -> Answer {
        let (answer, wake) = box.withLock { box -> (Answer, Bool) in
            if box.closing { return (.closed, false) }
            // One item always fits, however heavy.
            if weight > 0, box.weight > 0, box.weight + weight > greatestWeight { return (.full, false) }
            box.weight += weight
            box.items.append(item)
            return (.taken, Self.wake(&box))
        }
        if wake { box.signal() }
        return answer
    }

    /// Has the thread work although nothing is left for it.
    func poke() {
        let wake = box.withLock { box in
            box.poked = true
            return Self.wake(&box)
        }
        if wake { box.signal() }
    }

    private static func wake(_ box: inout Box) -> Bool {
        defer { box.sleeping = false }
        return box.sleeping
    }

    /// Takes the items left since, without waiting. For the thread itself, in the middle of its work.
    func takeMore() -> [Item] { box.withLock { box in Self.take(&box) } }

    /// Gives back the weight of items that are done.
    func relieve(_ weight: Int) { if weight > 0 { box.withLock { box in box.weight -= weight } } }

    private static func take(_ box: inout Box) -> [Item] {
        let items = box.items
        box.items = []
        box.poked = false
        return items
    }

    /// - Returns: nil when it is over.
    private func next() -> [Item]? {
        var isOver = false
        let items = box.wait(atMost: .seconds(interval)) { box -> [Item]? in
            if box.items.isEmpty, !box.poked, !box.closing {
                box.sleeping = true
                return nil
            }
            box.sleeping = false
            isOver = box.items.isEmpty && box.closing
            return Self.take(&box)
        }
        return isOver ? nil : items ?? []
    }

    /// Takes no more, does what waits, and ends. Returns when it has ended; may be called by several threads.
    func close() {
        box.withLock { box in
            box.closing = true
            box.sleeping = false
        }
        box.signal()
        _ = ended.wait { ended in ended ? true : nil }
    }

    /// Has the caller count as this thread, which was never started, for as long as `body` runs.
    func impersonate<R>(_ body: () -> R) -> R {
        identity.withLock { identity in identity = ObjectIdentifier(Thread.current) }
        defer { identity.withLock { identity in identity = nil } }
        return body()
    }

    /// Items that wait.
    var waitingCount: Int { box.withLock { box in box.items.count } }

    /// Takes no more, without waiting for an end: of a thread that was never started.
    func shut() { box.withLock { box in box.closing = true } }

    /// Whether the caller runs on this thread.
    var isCurrent: Bool { identity.withLock { identity in identity == ObjectIdentifier(Thread.current) } }

    /// Stops a caller that would wait for itself for ever: completions and observers run on this thread.
    func refuseOwnThread() {
        precondition(!isCurrent, "a blocking call of a journal from one of its own completions would never return")
    }
}

/// An answer that one thread waits for and another gives.
final class Reply<Value: Sendable>: Sendable {
    private let value = Monitor<Result<Value, JournalError>?>(nil)

    func give(_ result: Result<Value, JournalError>) {
        value.withLock { value in value = result }
        value.signal()
    }

    var isGiven: Bool { value.withLock { value in value != nil } }

    func get() throws(JournalError) -> Value {
        guard let result = value.wait(for: { value in value }) else { preconditionFailure("waited without a deadline") }
        return try result.get()
    }
}
