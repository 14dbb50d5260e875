internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway

/// `/api/events`: how it stands, as server-sent events, at most one a second and only when something has changed.
///
/// A client is asked for nothing before it has taken what was written, and is cut off when it takes nothing for ten seconds:
/// it then connects again. So a slow one takes no memory, and holds up nobody.
struct PageEvents: Sendable {
    /// What the page shows at once; for the rest it asks.
    private struct Brief: Encodable, Equatable {
        struct Lane: Encodable, Equatable {
            var lane: String
            var state: String
            var unconfirmed: Int
        }

        var isReady: Bool
        var unconfirmed: Int
        var rejections: Int
        var lanes: [Lane]
        /// Grows with everything that begins or ends.
        var changes: Int
    }

    /// For the streams of the listener at a time.
    let places: WaitPlaces
    let service: PageService

    func page(_ access: PageAccess) -> AdminPage {
        AdminPage("api/events") { request in
            do {
                let generation = access.token?.generation
                let guest = try access.reader(request)
                guard places.enter() else { throw PageRefusal.busy }
                let last = Monitor<(brief: Brief?, said: ContinuousClock.Instant)>((nil, .now))
                var parts: AdminPage.Answer.Next = { try await next(last) }
                // Whoever may read without a token may do so with any.
                if case .local = guest {
                } else if let token = access.token, let generation {
                    parts = token.whilePresent(generation, parts)
                }
                var answer = AdminPage.Answer(streaming: EventStreamText.type, ended: places.leave, parts)
                answer.fields = PageReply.guarded()
                return answer
            } catch {
                return PageReply.failed(error)
            }
        }
    }

    private func next(_ last: Monitor<(brief: Brief?, said: ContinuousClock.Instant)>) async throws -> [UInt8]? {
        while !Task.isCancelled {
            let (before, said) = last.withLock { $0 }
            if before != nil { try await Task.sleep(for: .seconds(1)) }
            let brief = brief()
            if brief != before {
                last.withLock { $0 = (brief, .now) }
                return try text(brief)
            }
            // By what it writes a stream finds out that its client is gone.
            guard .now - said >= .seconds(5) else { continue }
            last.withLock { $0.said = .now }
            return try text(brief)
        }
        return nil
    }

    private func text(_ brief: Brief) throws -> [UInt8] {
        var text = Array("retry: 2000\nevent: status\ndata: ".utf8) + (try Form.line(brief))
        if let sample = service.samples.current {
            text += Array("\n\nevent: sample\ndata: ".utf8) + (try Form.line(sample))
        }
        return text + Array("\n\n".utf8)
    }

    private func brief() -> Brief {
        guard let engine = service.journal()?.engine else {
            return Brief(isReady: false, unconfirmed: 0, rejections: 0, lanes: [], changes: 0)
        }
        let status = engine.status()
        let rejected = status.rejected.values.reduce(0, +)
        return Brief(
            isReady: service.facts().isReady, unconfirmed: status.unconfirmed, rejections: rejected,
            lanes: status.lanes.map { lane in
                Brief.Lane(
                    lane: lane.key.description,
                    state: LaneForm(lane.key, lane.state, unconfirmed: 0, deferred: 0).state,
                    unconfirmed: lane.backlog)
            },
            changes: status.submitted + status.refused + status.confirmed + rejected + status.expired + status.withdrawn
        )
    }
}
