internal import Holdfast
internal import HoldfastLegacyAPNs
internal import NIOCore

/// Errors about notifications that are on disk already, and were rejected by the push service.
extension BinaryServerSession {
    /// How errors are said about notifications that are on disk.
    struct ErrorTerms: Sendable {
        /// What the client's connections have in common.
        let sender: [UInt8]
        let repeats: BinaryRepeats
        /// How long an error, or the client's end, waits for the outcomes of earlier notifications.
        let patience: TimeAmount
    }

    /// A notification of which an error may be said.
    struct Tracked: Sendable {
        let number: Int
        let fate: BinaryFate
        /// Nil for one that came again.
        let uid: UID?
    }

    /// Notifications whose ends are to be told with ``ended(_:_:now:)``, since the last call.
    mutating func takeTracked() -> [Tracked] {
        guard !tracked.isEmpty else { return [] }
        defer { tracked = [] }
        return tracked
    }

    /// Notifications of which no error is said any more, since the last call.
    mutating func takeUntracked() -> [BinaryFate] {
        guard !untracked.isEmpty else { return [] }
        defer { untracked = [] }
        return untracked
    }

    /// Whether errors are said about notifications on disk.
    var tellsErrors: Bool { errors != nil }

    /// Those that the error, which goes out now, calls discarded, although they are on disk. Each has its place.
    mutating func takeDisowned() -> [(key: BinaryRepeats.Key, fate: BinaryFate)] {
        defer { disowned = [] }
        return disowned.map { ($0.key, $0.fate) }
    }

    /// A notification that is on disk has ended.
    mutating func ended(_ number: Int, _ ending: BinaryFate.Ending, now: NIODeadline) {
        errors?.repeats.places.giveBack(accepted.ended(number, ending, at: now))
    }

    /// The time at which the session has to be asked for its next step again; nil for none.
    var dueAt: NIODeadline? {
        guard let errors, submitted == 0 else { return nil }
        switch ending {
        case nil, .inputEnded, .fault: break
        case .rejection, .shutdown, .silence, .over: return nil
        }
        return [accepted.deadline, endingSince.map { $0 + errors.patience }].compactMap(\.self).min()
    }

    mutating func lookForRejection(_ now: NIODeadline) {
        switch ending {
        case nil, .inputEnded, .fault: break
        case .rejection, .shutdown, .silence, .over: return
        }
        guard let answer = accepted.rejection(at: now) else { return }
        untrack(accepted.takeThroughRejection())
        ending = .rejection(answer)
    }

    /// Whether the end, or an error, has to wait for the outcomes of earlier notifications.
    mutating func waitsForOutcomes(_ now: NIODeadline) -> Bool {
        guard let errors, accepted.isPending, !isGone else { return false }
        let since = endingSince ?? now
        endingSince = since
        return now < since + errors.patience
    }

    /// Those at the front that came again are on disk already.
    mutating func takeRepeats(_ now: NIODeadline) {
        guard let errors else { return }
        while let key = waiting.first?.key, let fate = errors.repeats.claim(key, at: now),
            let its = waiting.popFirst()
        {
            lastCommitted = its.identifier ?? lastCommitted
            tally.repeated += 1
            // It has its place.
            errors.repeats.places.giveBack(1)
            track(its, fate, uid: nil)
        }
        if waiting.isEmpty { waiting = [] }
    }

    /// What is to be submitted next: nothing behind one that came again, which is on disk only if that is.
    func batch(_ now: NIODeadline) -> ArraySlice<Waiting> {
        let batch = waiting.prefix(Self.greatestBatch)
        guard let errors else { return batch }
        return batch.prefix { its in its.key.map { !errors.repeats.knows($0, at: now) } ?? true }
    }

    mutating func track(_ its: Waiting, _ fate: BinaryFate, uid: UID?) {
        guard let errors, let key = its.key else { return }
        let places = errors.repeats.places
        if places.take(1) == 0 {
            if case .rejection? = ending {
                // All behind an error are remembered.
                places.takeBeyondLimit(1)
            } else if let first = accepted.dropFirst() {
                untracked.append(first)
            } else {
                // Nothing before this one is named any more, so nothing need be remembered of it.
                return
            }
        }
        let number = accepted.append(BinaryAccepted.Entry(fate, key, identifier: its.identifier))
        tracked.append(Tracked(number: number, fate: fate, uid: uid))
    }

    private mutating func untrack(_ fates: [BinaryFate]) {
        untracked += fates
        errors?.repeats.places.giveBack(fates.count)
    }

    /// No error is said any more about what is on disk.
    mutating func letGo() {
        guard errors != nil else { return }
        untrack((disowned + accepted.takeAll()).map(\.fate))
        disowned = []
    }
}
