internal import Holdfast
internal import HoldfastHTTP2
internal import NIOCore

/// Requests that wait for what becomes of their notifications.
extension HTTP2IngressSession {
    /// A request that waits for the outcome of the notification with this UID.
    struct Awaited: Sendable {
        let streamID: UInt32
        let uid: UID
    }

    /// The number of requests that wait for their outcomes.
    var waitCount: Int { waits.count }
    /// The time of the next ``lookAtWaits(at:)``; nil for none.
    var nextLook: NIODeadline? { waits.nextLook }

    /// A notification has ended, durably.
    ///
    /// - Parameters:
    ///   - outcome: nil if the engine has ended first.
    ///   - entry: the blacklist's entry, if the notification was rejected because of one.
    mutating func ended(_ streamID: UInt32, _ outcome: Outcome?, entry: BlacklistEntry? = nil) {
        guard let its = waits.end(streamID) else { return }
        guard let outcome else { return accept(its, .accepted) }
        let word = OutcomeWord(outcome.terminal)
        guard let answer = its.form.answer(to: outcome, entry: entry) else {
            return accept(its, word, uniqueID: outcome.uniqueID)
        }
        if !answers.refuse(its, answer, word, uniqueID: outcome.uniqueID, &session) { tally.unanswered += 1 }
        tally.told[word.rawValue, default: 0] += 1
    }

    /// Answers requests whose time is over as accepted.
    mutating func lookAtWaits(at now: NIODeadline) {
        let isFull = session.openStreams >= settings.streams
        endWaits(waits.look(at: now, isFull: isFull, streams: settings.streams))
    }

    mutating func endWaits(_ requests: [Waiting]) {
        for its in requests {
            forgotten.append(its.streamID)
            accept(its, .accepted)
        }
    }

    /// Streams whose outcomes are to be asked for no more, since the last call.
    mutating func takeForgotten() -> [UInt32] {
        guard !forgotten.isEmpty else { return [] }
        defer { forgotten = [] }
        return forgotten
    }
}
