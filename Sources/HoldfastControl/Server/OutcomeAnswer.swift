internal import HTTPTypes
package import Holdfast
internal import NIOCore

/// Answers questions for outcomes in JSON, from whichever side they come.
package struct OutcomeAnswer: Sendable {
    private let desk: any OutcomeDesk
    private let clock: EngineClock
    private let longestWait: Duration
    private let places: WaitPlaces

    /// - Parameters:
    ///   - places: for those who wait.
    ///   - longestWait: for outcomes that are not there yet; who asks to wait longer is told so.
    package init(
        desk: any OutcomeDesk, places: WaitPlaces, longestWait: Duration = OutcomeQuestion.longestWait,
        clock: EngineClock = .system
    ) {
        (self.desk, self.places, self.longestWait, self.clock) = (desk, places, longestWait, clock)
    }

    /// Answers a question that is asked outside of the socket: with `after` it is for the outcomes in their order, else for those
    /// that match.
    ///
    /// - Parameter query: behind the `?` of the path.
    /// - Returns: the status of HTTP, and a form.
    package func answer(_ query: some StringProtocol) async -> (status: Int, body: [UInt8]) {
        do {
            guard query.split(separator: "&").contains(where: { $0.hasPrefix("after=") }) else {
                return (200, try await found(query))
            }
            let log = try await desk.outcomeLog()
            guard log.isKept || log.count > 0 else { throw JournalError.historyIsOff }
            return (200, try await listed(query))
        } catch {
            return Self.answer(error)
        }
    }

    /// An error as an answer.
    package static func answer(_ error: any Error) -> (status: Int, body: [UInt8]) {
        (HTTPFront.status(of: error).code, Array(HTTPFront.body(of: error).readableBytesView))
    }

    func found(_ query: some StringProtocol) async throws -> [UInt8] {
        guard
            case .find(let wanted, let before, let rejectionsAfter, let limit) = try OutcomeQuestion.find(
                query, now: clock.wall())
        else { return [] }
        var page = OutcomePage(outcomes: [], end: .start)
        if rejectionsAfter == nil { page = try await desk.findOutcomes(wanted, before: before, limit: limit) }
        var form = OutcomesFoundForm(page, isKept: try await desk.outcomeLog().isKept)
        // A UID is one notification's.
        let isFound = wanted.uid != nil && !page.outcomes.isEmpty
        if page.end == .start, !isFound, wanted.ending ?? "rejected" == "rejected" {
            let (room, uid) = (limit - page.outcomes.count, rejectionsAfter ?? .none)
            form.add(
                room > 0
                    ? try await desk.findRejections(wanted, after: uid, limit: room) : RejectionPage(end: uid))
        }
        return try Form.line(form)
    }

    func listed(_ query: some StringProtocol) async throws -> [UInt8] {
        guard
            case .list(let after, let limit, let producers, let wait) = try OutcomeQuestion.list(
                query, longestWait: longestWait)
        else { return [] }
        func list() async throws -> OutcomeListing {
            try await desk.outcomes(after: after, limit: limit, of: producers, waitingAtMost: wait)
        }
        let listing = try await wait > .zero ? places.waiting(list) : list()
        return try Form.line(OutcomeListForm(listing))
    }
}
