internal import Holdfast
internal import HoldfastAPNsAnswers

/// A connection on which each notification gets its own answer, with the service behind it.
final class AnsweredPeer: Peer, Connection, @unchecked Sendable {  // confined to the simulation's thread
    private enum Stage {
        case queued
        case written(at: Duration)
        /// The service has decided; its answer is on the way.
        case decided(SendResult)
    }

    private struct Request {
        let entry: LedgerEntry
        let copy: Int
        let ticket: Ticket
        let givenAt: Duration
        var stage: Stage
        /// Its answer will never come.
        var isLost = false

        var isQueued: Bool { if case .queued = stage { true } else { false } }
    }

    unowned let world: World
    let route: Int
    let consumer: Int
    let number: Int
    let life: Int
    private(set) var capacity: Int
    private var requests: [Request] = []
    /// Given up by the deadline, but on the wire.
    private var late: [Request] = []
    private(set) var isOver = false
    private(set) var toldToStopInTurn: Int?
    private var isDraining = false
    private var closesAt: Duration?
    /// Whether more than one request may be under way: see ``Swarm/startsAlone``.
    private var isProven: Bool

    init(world: World, route: Int, number: Int) {
        self.world = world
        self.route = route
        consumer = world.consumers[route]
        self.number = number
        life = world.life
        capacity = world.swarm.capacity
        isProven = !world.swarm.startsAlone
    }

    var unanswered: Int { requests.count }

    var streams: Int { isProven ? capacity : 1 }

    private var mayWrite: Bool { isProven || requests.allSatisfy(\.isQueued) }

    // MARK: The engine's side

    func send(_ handOut: HandOut) {
        world.checkHandOut(handOut, to: self)
        guard !isOver else {
            return sink(.results(handOut.tickets.map { ($0, .notSent("the connection has ended")) }))
        }
        for (index, item) in handOut.entries.items.enumerated() {
            guard let entry = world.ledger[item.uid] else { continue }
            if life == world.life { entry.isReadAfresh = false }
            world.append(entry, to: self)
            requests.append(
                Request(
                    entry: entry, copy: entry.copies.count - 1, ticket: handOut.tickets[index], givenAt: world.now,
                    stage: .queued))
        }
    }

    func close(deadline: Duration) {
        guard !isOver, closesAt == nil else { return }
        closesAt = world.now + deadline
        toldToStopInTurn = world.turns
    }

    private func sink(_ event: ConnectorEvent) { world.deliver(event, from: self) }

    private func tell(_ request: Request, _ word: Copy.Word) {
        // Others may be tried before the topic of a request that had no answer, or a late one.
        if isLate(request) || word == .unknown || word == .notProcessed {
            world.rules.refusedTopics.insert(request.entry.notification.topic)
        }
        guard life == world.life else { return }
        request.entry.copies[request.copy].word = word
        request.entry.copies[request.copy].toldBeforeTurn = world.turns
        world.told(word, of: request.entry, copy: request.copy)
    }

    /// Others wait for so long.
    private static let patience = Duration.seconds(2)

    private func isLate(_ request: Request) -> Bool { world.now - request.givenAt >= Self.patience }

    /// Whether a request of the topic is late.
    func isLate(_ topic: String) -> Bool {
        requests.contains { $0.entry.notification.topic == topic && isLate($0) }
    }

    // MARK: The wire

    var nextDue: Duration? {
        guard !isOver else { return nil }
        var dues: [Duration] = []
        for request in requests {
            switch request.stage {
            case .queued: if mayWrite { return world.now }
            case .decided: return world.now
            case .written(let at): dues.append(request.isLost ? at + world.swarm.answerDeadline : world.now)
            }
            if request.isLost { dues.append(world.now + world.swarm.answerDeadline) }
        }
        if let closesAt { dues.append(requests.isEmpty ? world.now : max(closesAt, world.now)) }
        return dues.min()
    }

    func progress() {
        guard !isOver else { return }
        if closesAt != nil, world.swarm.startsAlone { returnQueued() }
        writeSome()
        decideSome()
        guard !isOver else { return }
        answerSome()
        giveUpOverdue()
        if let closesAt, requests.isEmpty || closesAt <= world.now {
            end(knowing: true, cause: isDraining ? "drained" : nil)
        }
        makeTrouble()
    }

    private func writeSome() {
        for index in requests.indices {
            guard requests[index].isQueued else { continue }
            guard mayWrite else { return }
            guard world.isHealing || world.dice.chance(0.8) else { return }
            requests[index].stage = .written(at: world.now)
            requests[index].entry.copies[requests[index].copy].leftAt = world.now
        }
    }

    /// Gives the requests back that have no stream yet: the connection closes, and they go over another one.
    private func returnQueued() {
        var returned: [(ticket: Ticket, result: SendResult)] = []
        requests.removeAll { request in
            guard request.isQueued else { return false }
            tell(request, .notProcessed)
            returned.append((request.ticket, .notSent("the connection is ending")))
            return true
        }
        if !returned.isEmpty { sink(.results(returned)) }
    }

    private func decideSome() {
        for index in requests.indices {
            guard case .written = requests[index].stage, !requests[index].isLost else { continue }
            guard world.isHealing || world.dice.chance(0.5) else { continue }
            if world.connectionEnders.contains(requests[index].entry.uid) { return endBecauseOf(index) }
            let isSilent = world.service.silentTopics.contains(requests[index].entry.notification.topic)
            if isSilent || world.strikes(.answerLost, times: 3) {
                requests[index].isLost = true
                if world.dice.chance(0.5) { _ = world.decide(requests[index].entry, copy: requests[index].copy) }
            } else {
                requests[index].stage = .decided(world.decide(requests[index].entry, copy: requests[index].copy))
            }
        }
    }

    private func answerSome() {
        var confirmed: [Ticket] = []
        var results: [(ticket: Ticket, result: SendResult)] = []
        var answered: [(request: Request, result: SendResult)] = []
        requests.removeAll { request in
            guard case .decided(let result) = request.stage, world.isHealing || world.dice.chance(0.7) else {
                return false
            }
            answered.append((request, result))
            return true
        }
        // In the order in which the engine hears of them.
        for (request, result) in answered.filter({ $0.result.verdict == .confirmed })
            + answered.filter({ $0.result.verdict != .confirmed })
        {
            tell(request, Copy.Word(result, of: request.entry.notification))
            switch result.verdict {
            // The credentials may be refused for the topic alone, and so may what is refused for now.
            case .laneStopped(.credentials), .deferred:
                world.rules.refusedTopics.insert(request.entry.notification.topic)
            default: break
            }
            request.entry.copies[request.copy].wasLeft = result.verdict == .neverProcessed(.newConnection)
            if result.verdict == .confirmed {
                confirmed.append(request.ticket)
            } else {
                results.append((request.ticket, result))
            }
        }
        if !confirmed.isEmpty { sink(.confirmed(confirmed)) }
        if !results.isEmpty { sink(.results(results)) }
        guard !isProven, !confirmed.isEmpty else { return }
        isProven = true
        sink(.capacityChanged(capacity))
    }

    /// What a connector does about a deadline; and now and then the answer comes after all.
    private func giveUpOverdue() {
        var results: [(ticket: Ticket, result: SendResult)] = []
        requests.removeAll { request in
            guard case .written(let at) = request.stage, at + world.swarm.answerDeadline <= world.now else {
                return false
            }
            tell(request, .unknown)
            results.append((request.ticket, .unknown("no answer within the deadline")))
            late.append(request)
            return true
        }
        if !results.isEmpty { sink(.results(results)) }
        guard !late.isEmpty, world.strikes(.answerLate, times: 6) else { return }
        let request = late.removeFirst()
        let result = request.isLost ? SendResult.confirmed : world.decide(request.entry, copy: request.copy)
        sink(result.verdict == .confirmed ? .confirmed([request.ticket]) : .results([(request.ticket, result)]))
    }

    /// It aborts, or it asks for another connection in one way or another.
    private func endBecauseOf(_ index: Int) {
        guard toldToStopInTurn == nil, world.isHealing ? index % 2 == 0 : world.dice.chance(0.5) else {
            return end(knowing: true, cause: "aborted because of entry \(requests[index].entry.uid)")
        }
        let request = requests.remove(at: index)
        toldToStopInTurn = world.turns
        tell(request, .notProcessed)
        request.entry.copies[request.copy].wasLeft = true
        sink(.results([(request.ticket, SendResult(apnsStatus: 503, reason: "Shutdown"))]))
        sink(.draining)
        isDraining = true
        closesAt = world.now
    }

    // MARK: Trouble

    private func makeTrouble() {
        guard !isOver else { return }
        if world.strikes(.capacityChanges) {
            capacity = world.dice.number(1...max(world.swarm.capacity, 2))
            sink(.capacityChanged(capacity))
        }
        if !isDraining, world.strikes(.drains, times: 3) { drain() }
        if world.strikes(.diesKnowing) { end(knowing: true, cause: "reset") }
        if !isOver, world.strikes(.diesUnknowing) { end(knowing: false, cause: "reset") }
    }

    /// GOAWAY: what is above the last stream was never processed; the rest is still answered.
    private func drain() {
        isDraining = true
        toldToStopInTurn = world.turns
        sink(.draining)
        let last = world.dice.number(0...requests.count)
        var refused: [(ticket: Ticket, result: SendResult)] = []
        let above = requests[last...].filter { request in
            if case .decided = request.stage { return false }
            return !request.isLost
        }
        for request in above {
            tell(request, .notProcessed)
            refused.append((request.ticket, .notSent("above the last stream")))
        }
        let tickets = Set(above.map(\.ticket))
        requests.removeAll { tickets.contains($0.ticket) }
        if !refused.isEmpty { sink(.results(refused)) }
        closesAt = world.now + .milliseconds(world.dice.number(0...2000))
    }

    /// - Parameter knowing: whether the connector can say what was never written.
    func end(knowing: Bool, cause: String?) {
        guard !isOver else { return }
        isOver = true
        toldToStopInTurn = toldToStopInTurn ?? world.turns
        var possiblySent: [Ticket] = []
        for request in requests {
            var isWritten = true
            if case .queued = request.stage { isWritten = false }
            if isWritten, case .written = request.stage, !request.isLost, world.dice.chance(0.5) {
                world.stragglers.append((request.entry, request.copy))
            }
            let mayBeSent = isWritten || !knowing
            tell(request, mayBeSent ? .unknown : .notProcessed)
            request.entry.copies[request.copy].wasLeft = mayBeSent && !request.entry.hasOneAttempt
            if isWritten { possiblySent.append(request.ticket) }
        }
        requests = []
        sink(.ended(ConnectionEnd(possiblySent: knowing ? possiblySent : nil, cause: cause)))
    }

    /// The process was killed: what is on the wire goes on its way.
    func abandon() {
        isOver = true
        for request in requests {
            if case .written = request.stage, !request.isLost { world.stragglers.append((request.entry, request.copy)) }
        }
        requests = []
    }
}

extension Copy.Word {
    /// A broadcast has no token that could be to blame.
    init(_ result: SendResult, of notification: PushNotification) {
        self.init(result)
        guard notification.isBroadcast, case .rejected(let reason, let fault) = self,
            fault == .token || fault == .suspectToken
        else { return }
        self = .rejected(reason, .notification)
    }

    init(_ result: SendResult) {
        self =
            switch result.verdict {
            case .confirmed: .taken
            case .rejected(let fault): .rejected(result.reason ?? Reason(rawValue: "Rejected"), fault)
            // What is refused for its topic waits for that.
            case .deferred where result.mayHaveBeenTaken: .unknown
            case .deferred, .laneStopped(.topic): .deferred
            case .neverProcessed, .laneStopped(.credentials): .notProcessed
            case .foreign: result.isForeignSuccess ? .unknown : .notProcessed
            case .unknown: .unknown
            }
    }
}
