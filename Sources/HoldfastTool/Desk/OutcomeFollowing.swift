internal import Holdfast
internal import HoldfastControl

/// Reads outcomes from the process that uses a journal, as they come, through its restarts.
struct OutcomeFollowing {
    /// From the end of a process to the next attempt to reach one; and from an answer that came at once, without anything, to
    /// the next question.
    private static let pause = Duration.milliseconds(500)

    let place: JournalPlace
    /// The reader whose cursor the journal keeps; nil for none.
    let reader: String?
    let producers: Set<String>?
    var console = Console.standard

    /// Runs until it is cancelled, or `body` throws.
    ///
    /// - Parameter body: takes what came after a cursor.
    /// - Throws: ``ControlError`` where nobody serves the journal at the start; ``JournalError`` for a wrong cursor.
    func run(after: OutcomeCursor?, _ body: (OutcomeListing, OutcomeCursor) throws -> Void) async throws {
        var desk = try await place.liveDesk()
        var cursor = try await beginning(after, desk)
        var isKept = true
        var wait = OutcomeQuestion.longestWait
        while true {
            let start = ContinuousClock.now
            do {
                let listing = try await desk.outcomes(
                    after: cursor, limit: OperatorDeskLimits.batch, of: producers,
                    waitingAtMost: wait)
                wait = OutcomeQuestion.longestWait
                try body(listing, cursor)
                if listing.end >= listing.newest {
                    if isKept, !listing.isKept { sayOff() }
                    isKept = listing.isKept
                }
                guard listing.end > cursor else {
                    if ContinuousClock.now - start < Self.pause { try await Task.sleep(for: Self.pause) }
                    continue
                }
                cursor = listing.end
                if let reader { try await desk.moveOutcomeReader(reader, to: cursor) }
            } catch let error as ControlError where error.code == .busy && wait > .zero {
                // Too many others wait: now and then it is asked without.
                wait = .zero
            } catch let error as ControlError where error.isOfItsOwner {
                await desk.close()
                desk = try await next(error)
            } catch let error as JournalError where error.code == .closed {
                await desk.close()
                desk = try await next(error)
            }
        }
    }

    private func beginning(_ after: OutcomeCursor?, _ desk: RemoteDesk) async throws -> OutcomeCursor {
        if let reader {
            let known = try await desk.openOutcomeReader(reader)
            guard let after else { return known }
            try await desk.moveOutcomeReader(reader, to: after)
            return after
        }
        if let after { return after }
        return try await desk.outcomeLog().newest
    }

    private func sayOff() {
        console.warning(
            "the journal keeps no outcomes, so none come until journal.history is on again: what ends meanwhile is missing"
        )
    }

    /// The next process that uses the journal. It may take its time to answer: it is just beginning, or under load.
    private func next(_ error: any Error) async throws -> RemoteDesk {
        console.note("waiting for a process that uses the journal: \(error)")
        while true {
            try await Task.sleep(for: Self.pause)
            do {
                return try await place.liveDesk()
            } catch let error as ControlError where error.isOfItsOwner {
                continue
            }
        }
    }
}

extension ControlError {
    /// Whether the owner has ended, is beginning or is slow: reading goes on with whoever has the journal next.
    fileprivate var isOfItsOwner: Bool { mayPass || code == .timedOut }
}
