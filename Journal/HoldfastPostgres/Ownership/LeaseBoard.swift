internal import Holdfast
internal import Synchronization

/// What a lease's thread tells others, and what they want of it.
final class LeaseBoard: Sendable {
    private struct State {
        var phase = JournalLease.Phase.seeking
        var trouble: DatabaseTrouble?
        var isUnwanted = false
        var isClosing = false
        var isLeft = false
        var isThreadOver = false
        var lapses = 0
    }

    private let board = Monitor(State())
    /// Nanoseconds; `Int64.min` for never.
    private let until = Atomic(Int64.min)

    var phase: JournalLease.Phase { board.withLock(\.phase) }
    var trouble: DatabaseTrouble? { board.withLock(\.trouble) }
    var lapses: Int { board.withLock(\.lapses) }
    var isUnwanted: Bool { board.withLock(\.isUnwanted) }
    /// Whether the journal is closed when it is given up.
    var isClosing: Bool { board.withLock(\.isClosing) }

    /// Whether the journal is not set free when it is given up.
    var isLeft: Bool { board.withLock(\.isLeft) }

    var handOutUntil: Duration? {
        let nanoseconds = until.load(ordering: .acquiring)
        return nanoseconds == .min ? nil : .nanoseconds(nanoseconds)
    }

    /// A call was answered: what the machine says holds for everyone from now on, unless the lease is being given up.
    func publish(_ machine: LeaseMachine, _ phase: JournalLease.Phase) {
        board.change { state in
            state.lapses = machine.lapses
            state.phase = phase
            state.trouble = nil
            let end = state.isUnwanted ? nil : machine.handOutUntil
            until.store(end.map(Self.nanoseconds) ?? .min, ordering: .releasing)
        }
    }

    func tell(_ trouble: DatabaseTrouble?) { board.change { $0.trouble = trouble } }

    /// Nothing is handed out from now on.
    func giveUp(closing: Bool, leaving isLeft: Bool = false) {
        board.change { state in
            state.isLeft = isLeft
            state.isClosing = closing
            state.isUnwanted = true
            until.store(.min, ordering: .releasing)
        }
    }

    func endThread(_ phase: JournalLease.Phase) {
        board.change { state in
            state.phase = phase
            state.isThreadOver = true
            until.store(.min, ordering: .releasing)
        }
    }

    /// Waits until the lease is unwanted.
    func rest(_ time: Duration) { board.wait(time) { $0.isUnwanted } }

    func waitForEnd(_ time: Duration) -> Bool { board.wait(time) { $0.isThreadOver } }

    func waitToHold(_ time: Duration) -> Bool { board.wait(time) { $0.phase != .seeking } }

    private static func nanoseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
