internal import Holdfast

/// The copy of the blacklist that look-ups read. Another takes its place where it can't be gone on with.
final class CurrentCopy: Sendable {
    private struct State: Sendable {
        var copy: any BlacklistCopy
        /// Of damage.
        var observer: (@Sendable (Int) -> Void)?
    }

    private let state: Monitor<State>

    init(_ copy: any BlacklistCopy) { state = Monitor(State(copy: copy)) }

    var copy: any BlacklistCopy { state.withLock { $0.copy } }

    func isCurrent(_ other: any BlacklistCopy) -> Bool { copy === other }

    /// Reads the copy; again, if another took its place meanwhile.
    func read<R>(_ body: (any BlacklistCopy) throws(JournalError) -> R) throws(JournalError) -> R {
        while true {
            let copy = copy
            do throws(JournalError) {
                return try body(copy)
            } catch {
                guard error.code == .closed, !isCurrent(copy) else { throw error }
            }
        }
    }

    func observeDamage(_ observer: @escaping @Sendable (Int) -> Void) {
        let copy = state.withLock { state in
            state.observer = observer
            return state.copy
        }
        copy.observeDamage(observer)
    }

    /// Puts another copy in the place of the one before, and closes that.
    func replace(with copy: any BlacklistCopy) {
        let (former, observer) = state.withLock { state in
            defer { state.copy = copy }
            return (state.copy, state.observer)
        }
        if let observer { copy.observeDamage(observer) }
        former.close()
    }
}
