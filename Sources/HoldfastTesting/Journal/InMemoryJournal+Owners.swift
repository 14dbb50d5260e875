package import Holdfast

/// Which of the journals in one store may commit: the one that has taken it last.
final class InMemoryStore: Sendable {
    private let current = Monitor<Int64>(1)

    /// Grows with each takeover.
    var epoch: Int64 { current.withLock { $0 } }

    func take() -> Int64 {
        current.withLock { epoch in
            epoch += 1
            return epoch
        }
    }
}

/// A journal that several hosts may own, one after the other.
extension InMemoryJournal {
    /// What another host finds that takes the journal over: everything committed. This journal's next commit, and every one
    /// after it, is refused with ``Holdfast/JournalError/Code/ownershipLost``.
    ///
    /// - Parameter mode: of the new one; `nil` for the same.
    package func takenOver(mode: Mode? = nil) -> InMemoryJournal {
        let (disk, store) = state.withLock { ($0.disk, $0.store) }
        return InMemoryJournal(disk: disk, mode: mode ?? self.mode, store: store, epoch: store.take())
    }

    /// Sets the instant of the engine's monotonic time before which entries may be handed out; `nil` for any time.
    package func handOut(until instant: Duration?) { state.withLock { $0.handOutUntil = instant } }

    /// It does not say whether it has room.
    package var tellsRoom: Bool { false }
    package var wantOfRoom: JournalError? { nil }
    package var refusal: JournalError? { nil }
    package var firstUID: UID { UID(1) }

    /// Over, once it was told of its loss.
    package var handOutUntil: Duration? {
        state.withLock { $0.broken?.code == .ownershipLost ? .zero : $0.handOutUntil }
    }

    /// Another host has taken the journal: nothing is taken and nothing is given any more, and all who ask are told.
    static func lose(_ requests: ArraySlice<Request>, _ state: inout State) -> Done {
        let error = state.lossOfOwnership
        state.broken = error
        let report = CommitReport(
            newestOutcome: state.disk.outcomes.figures.newest, unreadOutcomes: state.disk.outcomes.unread,
            failure: error)
        return Done(report: report, observer: state.observer, answers: failures(of: requests, &state, error))
    }
}

extension InMemoryJournal.State {
    /// Whether another host has taken the journal.
    var isTaken: Bool { store.epoch != epoch }

    var lossOfOwnership: JournalError {
        JournalError(
            .ownershipLost, "another host has taken the journal (epoch \(store.epoch)); this one owned epoch \(epoch)")
    }
}
