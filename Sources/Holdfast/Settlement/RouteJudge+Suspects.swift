/// Tokens that the service calls bad are held until it is clear whether they are, or the environment is.
extension RouteJudge {
    /// Decides about what a plan has asked about.
    func weigh(_ evidence: Evidence, for connection: Int, into plan: inout SettlementPlan, at now: Moment) {
        setAside(evidence, into: &plan, at: now)
        hold(evidence, connection: connection, into: &plan, at: now)
    }

    /// Holds the suspects of these answers until they are decided; they stay in flight meanwhile.
    private func hold(_ evidence: Evidence, connection: Int, into plan: inout SettlementPlan, at now: Moment) {
        let new = plan.suspects.sorted { $0.flight.uid < $1.flight.uid }
        plan.suspects = []
        for (ticket, flight, result) in new {
            guard let token = evidence.tokens[lanes.key(flight.lane, flight.uid)] else {
                plan.readAgain(flight, ticket: ticket)
                continue
            }
            var suspect = CircuitBreaker.Suspect(
                connection: connection, ticket: ticket, flight: flight, token: token, result: result,
                answeredAt: now.wall, voice: voice(of: connection))
            suspect.otherLane = evidence.otherLanes[lanes.key(flight.lane, flight.uid)]
            if topicHold.isSetAside(token.topic) {
                wait(
                    for: token.topic, flight, ticket: ticket, result, cause: .tokens, words: nil, into: &plan, at: now)
            } else if breakers.hold(suspect, now: now.monotonic) {
                suspectTokens.insert(token)
            } else {
                // There are too many topics with suspects to judge one more.
                plan.wait(
                    flight, ticket: ticket, lane: lanes[flight.lane].id, until: now.wall.advanced(by: greatestWait),
                    reason: .suspectToken)
            }
        }
    }

    /// Judges suspects whose time has come.
    ///
    /// - Returns: what follows, by connection.
    func judgeSuspects(at now: Moment) -> [(connection: Int, plan: SettlementPlan)] {
        guard breakers.isJudging else { return [] }
        return breakers.judge(now: now.monotonic).flatMap { judgement -> [(connection: Int, plan: SettlementPlan)] in
            switch judgement {
            case .convict(let suspects): convict(suspects, at: now)
            case .giveChance(let suspects): release(suspects, at: now)
            case .postpone(let suspects): postpone(suspects, at: now)
            case .trip(let suspects, let words, let spare):
                plans(for: suspects, at: now) { suspect, plan in
                    wait(
                        for: suspect.token.topic, suspect.flight, ticket: suspect.ticket, suspect.result,
                        cause: .tokens, words: words, spare: spare, into: &plan, at: now)
                }
            }
        }
    }

    /// Releases all suspects at an orderly end, without a decision.
    func releaseAllSuspects(at now: Moment) -> [(connection: Int, plan: SettlementPlan)] {
        release(breakers.release(), at: now)
    }

    /// One that an operator takes back is not judged any more. It keeps its place until that is on disk.
    func releaseSuspect(_ uid: UID, at now: Moment) {
        guard breakers.release(uid, now: now.monotonic) else { return }
        suspectTokens = Set(breakers.suspects.map(\.token))
    }

    private func convict(
        _ suspects: [CircuitBreaker.Suspect], at now: Moment
    ) -> [(connection: Int, plan: SettlementPlan)] {
        var all = plans(for: suspects, at: now) { suspect, plan in
            plan.convict(suspect, lane: lanes[suspect.flight.lane].id, wall: now.wall)
        }
        let news = lanes.indices.flatMap { lane -> [RouteNews] in
            let all = suspects.filter { $0.flight.lane == lane }
            let moved = all.count { $0.otherLane != nil }
            return (all.isEmpty ? [] : [.convicted(lanes[lane].key, all.count)])
                + (moved == 0 ? [] : [.moved(lanes[lane].key, moved)])
        }
        if !all.isEmpty { all[0].plan.news = news }
        return all
    }

    /// Back to their lanes, unharmed: the service has not taken them.
    private func release(
        _ suspects: [CircuitBreaker.Suspect], at now: Moment
    ) -> [(connection: Int, plan: SettlementPlan)] {
        plans(for: suspects, at: now) { suspect, plan in
            plan.returnUnprocessed(
                suspect.flight, ticket: suspect.ticket, lane: lanes[suspect.flight.lane].id, reason: .suspectToken,
                wall: now.wall)
        }
    }

    private func postpone(
        _ suspects: [CircuitBreaker.Suspect], at now: Moment
    ) -> [(connection: Int, plan: SettlementPlan)] {
        let due = now.wall.advanced(by: configuration.suspects.pause)
        return plans(for: suspects, at: now) { suspect, plan in
            plan.wait(
                suspect.flight, ticket: suspect.ticket, lane: lanes[suspect.flight.lane].id, until: due,
                reason: .suspectToken)
        }
    }

    private func plans(
        for suspects: [CircuitBreaker.Suspect], at now: Moment,
        _ decide: (CircuitBreaker.Suspect, inout SettlementPlan) -> Void
    ) -> [(connection: Int, plan: SettlementPlan)] {
        suspectTokens = Set(breakers.suspects.map(\.token))
        return Set(suspects.map(\.connection)).sorted().map { connection in
            var plan = newPlan(at: now)
            for suspect in suspects where suspect.connection == connection { decide(suspect, &plan) }
            return (connection, plan)
        }
    }
}

extension SettlementPlan {
    /// An entry of which nothing is known: settled by an earlier answer, and nothing to decide; or unreadable, and to be moved
    /// aside. Reading it once more tells which.
    mutating func readAgain(_ flight: SentWindow.Flight, ticket: Ticket) {
        requeues.append(
            Requeue(lane: flight.lane, uid: flight.uid, possiblySent: flight.possiblySentBefore, ticket: ticket))
    }
}
