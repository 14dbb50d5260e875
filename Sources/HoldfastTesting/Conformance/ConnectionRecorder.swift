internal import Foundation
internal import Holdfast

/// Takes the events of one connection, and notes what must never be.
final class ConnectionRecorder: Sendable {
    struct State: Sendable {
        let mode: ConfirmationMode
        var handedOut: Set<Ticket> = []
        /// Those that were handed out when the connection had reported its end already.
        var late: Set<Ticket> = []
        var answers: [Ticket: SendResult] = [:]
        var capacities: [Int] = []
        var sentThrough: UInt64 = 0
        var stampsAsked: [UInt64] = []
        var stampsHeard: [UInt64] = []
        var error: PayloadError?
        var barrierAnswered: UInt64?
        var isDraining = false
        /// What the service has said of the connection as a whole.
        var told: [SendResult] = []
        var end: ConnectionEnd?
        var violations: [String] = []
        /// Calls of the sink: all, and those that have not returned.
        var callCount = 0
        var calls = 0

        var isCumulative: Bool { if case .cumulative = mode { true } else { false } }
        var handedOutThrough: UInt64 { UInt64(handedOut.count) }
        var unanswered: Set<Ticket> { handedOut.subtracting(answers.keys) }
        var confirmed: [Ticket] { answers.filter { $0.value == .confirmed }.map(\.key) }
    }

    private let state: Monitor<State>

    private let lingers: Bool

    /// - Parameter lingers: every other call of the sink takes a moment, so that a connector that makes two at a time is seen to.
    init(_ mode: ConfirmationMode, lingers: Bool = false) {
        state = Monitor(State(mode: mode))
        self.lingers = lingers
    }

    var now: State { state.withLock { $0 } }

    func handingOut(_ tickets: [Ticket]) {
        state.withLock { state in
            if state.end != nil { state.late.formUnion(tickets) }
            state.handedOut.formUnion(tickets)
        }
    }

    func asking(_ stamp: UInt64) { state.withLock { $0.stampsAsked.append(stamp) } }

    var sink: ConnectionSink {
        ConnectionSink { event in
            let number = self.state.withLock { state in
                // Whichever of two calls at a time comes first, the engine must not see the end first.
                if case .ended = event, state.calls > 0 {
                    state.violations.append("an end while other events are told")
                }
                state.calls += 1
                state.callCount += 1
                state.take(event)
                return state.callCount
            }
            if self.lingers, number.isMultiple(of: 2) { Thread.sleep(forTimeInterval: 0.002) }
            self.state.withLock { $0.calls -= 1 }
        }
    }
}

extension ConnectionRecorder.State {
    mutating func take(_ event: ConnectorEvent) {
        if end != nil { checkLate(event) }
        switch event {
        case .confirmed(let tickets):
            for ticket in tickets { answer(ticket, .confirmed) }
        case .results(let results):
            for (ticket, result) in results { answer(ticket, result) }
        case .capacityChanged(let capacity):
            capacities.append(capacity)
            if capacity < 1 { violations.append("a capacity of \(capacity)") }
        case .draining:
            isDraining = true
        case .told(let result):
            told.append(result)
        case .ended(let end):
            take(end)
        case .sent, .payloadError, .barrierAnswered, .listened:
            takeCumulative(event)
        }
    }

    /// After the end only those are answered that were handed out later, and never as confirmed.
    private mutating func checkLate(_ event: ConnectorEvent) {
        switch event {
        case .results(let results):
            if results.contains(where: { !late.contains($0.ticket) }) {
                violations.append("an answer after the end, for a ticket that the end had answered")
            }
        default: violations.append("\(Self.name(event)) after the end")
        }
    }

    private mutating func answer(_ ticket: Ticket, _ result: SendResult) {
        if isCumulative { violations.append("an answer to one notification on a cumulative connection") }
        if !handedOut.contains(ticket) {
            violations.append("an answer for ticket \(ticket.rawValue), never handed out")
        }
        if answers.updateValue(result, forKey: ticket) != nil {
            violations.append("a second answer for ticket \(ticket.rawValue)")
        }
    }

    private mutating func take(_ connectionEnd: ConnectionEnd) {
        end = end ?? connectionEnd
        for ticket in connectionEnd.possiblySent ?? [] where !unanswered.contains(ticket) {
            violations.append(
                "an end that calls ticket \(ticket.rawValue) possibly sent, which was answered or never handed out")
        }
        if let through = connectionEnd.possiblySentThrough?.rawValue {
            if through > handedOutThrough { violations.append("an end with a position that was never handed out") }
            if through < sentThrough { violations.append("an end that calls unsent what was reported as sent") }
            if !isCumulative { violations.append("an end with a position, where each notification is answered") }
        } else if isCumulative, connectionEnd.possiblySent != nil {
            violations.append("an end with tickets, where positions are wanted")
        }
    }

    private mutating func takeCumulative(_ event: ConnectorEvent) {
        if !isCumulative { violations.append("\(Self.name(event)) where each notification is answered") }
        if case .listened = event {
        } else if error != nil || barrierAnswered != nil {
            violations.append("\(Self.name(event)) where the end is due")
        }
        switch event {
        case .sent(let ticket):
            if ticket.rawValue > handedOutThrough { violations.append("sent, of what was never handed out") }
            if ticket.rawValue < sentThrough { violations.append("sent, going backwards") }
            sentThrough = max(sentThrough, ticket.rawValue)
        case .payloadError(let error):
            self.error = error
        case .barrierAnswered(let ticket):
            if ticket.rawValue > handedOutThrough { violations.append("a barrier behind what was never handed out") }
            barrierAnswered = ticket.rawValue
        case .listened(let stamp):
            if stampsHeard.count >= stampsAsked.count || stampsAsked[stampsHeard.count] != stamp {
                violations.append("listened, with stamp \(stamp) out of turn")
            }
            stampsHeard.append(stamp)
        case .confirmed, .results, .capacityChanged, .draining, .told, .ended: break
        }
    }

    private static func name(_ event: ConnectorEvent) -> String {
        switch event {
        case .confirmed: "confirmed"
        case .results: "results"
        case .sent: "sent"
        case .payloadError: "a payload error"
        case .barrierAnswered: "a barrier's answer"
        case .listened: "listened"
        case .capacityChanged: "a change of capacity"
        case .draining: "draining"
        case .told: "word of the connection as a whole"
        case .ended: "an end"
        }
    }
}
