internal import Logging

/// Tokens that the service calls bad are held until it is clear whether they are, or the environment is.
extension Consumer {
    /// Those just answered wait for the judgement; they stay in flight meanwhile.
    func hold(
        _ new: [(ticket: Ticket, flight: SentWindow.Flight, result: SendResult)], connection: Int, now: Duration,
        wall: WallTime
    ) throws(JournalError) {
        guard !new.isEmpty else { return }
        // All are read before any is held: a read that fails is tried again with all of them.
        var tokens: [[UID: TokenOfTopic]] = []
        for lane in lanes.indices {
            let uids = new.filter { $0.flight.lane == lane }.map(\.flight.uid).sorted()
            tokens.append(uids.isEmpty ? [:] : try settler.tokens(of: uids, lane: lanes[lane].id))
        }
        var plan = SettlementPlan()
        for (ticket, flight, result) in new.sorted(by: { $0.flight.uid < $1.flight.uid }) {
            guard let token = tokens[flight.lane][flight.uid] else {
                // Settled by an earlier answer, and nothing to judge; or unreadable, and to be moved aside. Reading it
                // once more tells which.
                links[connection]?.window.release(ticket)
                lanes[flight.lane].requeue([.init(uid: flight.uid, possiblySent: flight.possiblySentBefore)])
                continue
            }
            let suspect = CircuitBreaker.Suspect(
                connection: connection, ticket: ticket, flight: flight, token: token, result: result, answeredAt: wall,
                voice: voice(of: connection))
            if topicHold.isSetAside(token.topic) {
                wait(
                    for: token.topic, flight, ticket: ticket, result, cause: .tokens, words: nil, into: &plan, now: now,
                    wall: wall)
            } else if breakers.hold(suspect, now: now) {
                suspectTokens.insert(token)
            } else {
                // There are too many topics with suspects to judge one more.
                plan.wait(
                    flight, ticket: ticket, lane: lanes[flight.lane].id, until: wall.advanced(by: greatestWait),
                    reason: .suspectToken)
            }
        }
        forgetIfOver(connection)
        carryOut(plan, connection: connection, now: now, wall: wall)
        judgeSuspects(now: now, wall: wall)
    }

    func judgeSuspects(now: Duration, wall: WallTime) {
        guard shutdownDeadline == nil, breakers.isJudging else { return }
        for judgement in breakers.judge(now: now) {
            switch judgement {
            case .convict(let suspects):
                convict(suspects, now: now, wall: wall)
            case .giveChance(let suspects):
                release(suspects, now: now, wall: wall)
            case .postpone(let suspects):
                let due = wall.advanced(by: configuration.suspects.pause)
                carryOutByConnection(suspects, now: now, wall: wall) { suspect, plan in
                    plan.wait(
                        suspect.flight, ticket: suspect.ticket, lane: lanes[suspect.flight.lane].id, until: due,
                        reason: .suspectToken)
                }
            case .trip(let suspects, let words, let spare):
                carryOutByConnection(suspects, now: now, wall: wall) { suspect, plan in
                    wait(
                        for: suspect.token.topic, suspect.flight, ticket: suspect.ticket, suspect.result,
                        cause: .tokens,
                        words: words, spare: spare, into: &plan, now: now, wall: wall)
                }
            }
        }
    }

    private func convict(_ suspects: [CircuitBreaker.Suspect], now: Duration, wall: WallTime) {
        for lane in lanes.indices {
            let count = suspects.count { $0.flight.lane == lane }
            guard count > 0 else { continue }
            log(
                .convicted,
                "\(count) tokens of lane \(lanes[lane].key) are blacklisted: the service calls them bad",
                ["lane": .lane(lanes[lane].key), "count": .count(count)])
            events.emit(.convicted(lanes[lane].key, count: count))
        }
        carryOutByConnection(suspects, now: now, wall: wall) { suspect, plan in
            plan.convict(suspect, lane: lanes[suspect.flight.lane].id, wall: wall)
        }
    }

    /// Back to their lanes, unharmed: the service has not taken them.
    private func release(_ suspects: [CircuitBreaker.Suspect], now: Duration, wall: WallTime) {
        carryOutByConnection(suspects, now: now, wall: wall) { suspect, plan in
            plan.returnUnprocessed(
                suspect.flight, ticket: suspect.ticket, lane: lanes[suspect.flight.lane].id, reason: .suspectToken,
                wall: wall)
        }
    }

    private func carryOutByConnection(
        _ suspects: [CircuitBreaker.Suspect], now: Duration, wall: WallTime,
        _ decide: (CircuitBreaker.Suspect, inout SettlementPlan) -> Void
    ) {
        suspectTokens = Set(breakers.suspects.map(\.token))
        for connection in Set(suspects.map(\.connection)).sorted() {
            var plan = SettlementPlan()
            for suspect in suspects where suspect.connection == connection { decide(suspect, &plan) }
            carryOut(plan, connection: connection, now: now, wall: wall)
        }
    }

    // MARK: Whose word it is

    /// Whose word a connection brings. Where only errors are answered, each of them ends its connection: that is the route's.
    func voice(of connection: Int) -> Int {
        connector.confirmationMode == .perNotification ? connection : Self.noConnection
    }

    /// Of what goes again, how many go together, and the connection that is to have them: a token that was called bad goes to
    /// another one than that which has called it so.
    ///
    /// - Returns: nil for the connection that has its turn.
    func otherConnection(than number: Int, for again: inout [LaneStateMachine.Again], lane: Int) -> (Int, Link)? {
        guard breakers.hasChances, pool.active.count > 1, let first = again.first else { return nil }
        let chance = breakers.chance(lane: lane, first.uid)
        again = Array(again.prefix { breakers.chance(lane: lane, $0.uid) == chance })
        guard let chance else { return nil }
        let others = pool.active.compactMap { number in openWithRoom(number).map { (number, $0) } }
        let (wellKnown, topic) = (others.filter { !breakers.isDiscredited($0.0, topic: chance.topic) }, chance.topic)
        let other =
            wellKnown.first { $0.0 != chance.voice && $0.0 == number } ?? wellKnown.first { $0.0 != chance.voice }
        guard let best = other ?? (breakers.isDiscredited(number, topic: topic) ? wellKnown.first : nil) else {
            return nil
        }
        again = Array(again.prefix(room(of: best.1)))
        return best
    }

    // MARK: What outlives the process

    static func provenTopics(of route: Route, in journal: any Journal, _ log: EngineLog) -> ProvenTopics {
        do throws(JournalError) {
            let note = try journal.note(ProvenTopics.noteName(route: route.name))
            return note.map { ProvenTopics($0, service: route.connector.serviceIdentity) } ?? ProvenTopics()
        } catch {
            log(.noteFailed, "which topics were proven can't be read: \(error)", error.metadata)
            return ProvenTopics()
        }
    }

    /// Nobody waits for it: after a crash before the commit the topic has to prove itself once more.
    func keepProvenTopics(wall: WallTime) {
        guard let proven = breakers.takeNews() else { return }
        let note = (ProvenTopics.noteName(route: name), proven.bytes(service: connector.serviceIdentity))
        journal.append(Submission(producer: producer.id, acceptedAt: wall, note: note)) { [log] result in
            guard case .failure(let error) = result else { return }
            log(.noteFailed, "which topics were proven is not kept: \(error)", error.metadata)
        }
    }

    /// At an orderly end nobody is judged any more.
    func releaseAllSuspects(now: Duration, wall: WallTime) {
        release(breakers.release(), now: now, wall: wall)
    }
}
