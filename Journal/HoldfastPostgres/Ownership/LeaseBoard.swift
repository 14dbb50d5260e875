internal import Holdfast
internal import HoldfastPlatform
internal import Synchronization

/// What a lease's thread tells others, and what they want of it. Nobody holds its lock while waiting for anything else.
final class LeaseBoard: Sendable {
    private struct State {
        var phase = JournalLease.Phase.seeking
        var trouble: String?
        var isUnwanted = false
        var isThreadOver = false
    }

    private let state = Mutex(State())
    private let changes = Condition()
    /// Nanoseconds; `Int64.min` for never.
    private let until = Atomic(Int64.min)

    var phase: JournalLease.Phase { state.withLock { $0.phase } }
    var trouble: String? { state.withLock { $0.trouble } }
    var isUnwanted: Bool { state.withLock { $0.isUnwanted } }

    var handOutUntil: Duration? {
        let nanoseconds = until.load(ordering: .acquiring)
        return nanoseconds == .min ? nil : .nanoseconds(nanoseconds)
    }

    /// A call was answered: what the machine says holds for everyone from now on, unless the lease is being given up.
    func publish(_ machine: LeaseMachine, _ phase: JournalLease.Phase) {
        change { state in
            state.phase = phase
            state.trouble = nil
            let end = state.isUnwanted ? nil : machine.handOutUntil
            until.store(end.map(Self.nanoseconds) ?? .min, ordering: .releasing)
        }
    }

    func tell(_ trouble: String?) {
        change { $0.trouble = trouble }
    }

    /// Nothing is handed out from now on.
    func giveUp() {
        change { state in
            state.isUnwanted = true
            until.store(.min, ordering: .releasing)
        }
    }

    func endThread(_ phase: JournalLease.Phase) {
        change { state in
            state.phase = phase
            state.isThreadOver = true
            until.store(.min, ordering: .releasing)
        }
    }

    /// Waits until the lease is unwanted.
    func rest(_ time: Duration) {
        _ = wait(time) { $0.isUnwanted }
    }

    func waitForEnd(_ time: Duration) -> Bool { wait(time) { $0.isThreadOver } }

    func waitToHold(_ time: Duration) -> Bool { wait(time) { $0.phase != .seeking } }

    private func change(_ body: (inout State) -> Void) {
        changes.lock()
        state.withLock { body(&$0) }
        changes.broadcast()
        changes.unlock()
    }

    /// - Returns: whether it was so in time.
    private func wait(_ time: Duration, _ isSo: (State) -> Bool) -> Bool {
        let end = Condition.now + time
        changes.lock()
        defer { changes.unlock() }
        while !state.withLock({ isSo($0) }) {
            if !changes.wait(until: end) { return state.withLock { isSo($0) } }
        }
        return true
    }

    private static func nanoseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
